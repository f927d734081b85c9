package conformance

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func ttlCases() []Case {
	const years = 365 * 24 * 3600 // seconds
	doc := api("UpdateTimeToLive")
	on_ := updateTTL("ttl", true)
	k := key("a", "b")
	// expiring is a case about a row after a sweep of TTL. The row's ttl is computed from the store's time.
	expiring := func(name, rule, source string, ttl func(now int64) any, want string) Case {
		return newCase(name, rule, source, movesClock, needsSweep,
			expect(on_, "ttl ttl true"),
			expect(after(func(now int64) request { return put(row("a", "b", "ttl", ttl(now))) }), ok),
			then(wait(time.Second)),
			then(sweep()),
			expect(get(k, only("pk")), want))
	}
	past := func(seconds int64) func(int64) any {
		return func(now int64) any { return num(fmt.Sprint(now - seconds)) }
	}
	const there, gone = `{pk: "a"}`, "nothing"
	return []Case{
		newCase("off", "A table begins without TTL.", api("DescribeTimeToLive"), expect(describeTTL(), "ttl DISABLED")),
		newCase("on", "TTL is enabled on one attribute.", doc,
			expect(on_, "ttl ttl true"),
			expect(describeTTL(), "ttl ENABLED ttl")),
		newCase("on twice", "Enabling TTL that is enabled is refused.", dynalite+"updateTimeToLive.js",
			expect(on_, "ttl ttl true"),
			expect(on_, invalid("TimeToLive is already enabled"))),
		newCase("another attribute", "There is one attribute: another one is refused while TTL is on.", doc,
			expect(on_, "ttl ttl true"),
			expect(updateTTL("other", true),
				invalid("TimeToLive is active on a different AttributeName: current AttributeName is ttl")),
			expect(updateTTL("other", false),
				invalid("TimeToLive is active on a different AttributeName: current AttributeName is ttl"))),
		newCase("off and off", "Disabling TTL that is disabled is refused.", dynalite+"updateTimeToLive.js",
			expect(updateTTL("ttl", false), invalid("TimeToLive is already disabled"))),
		newCase("off again", "TTL can be disabled.", doc,
			expect(on_, "ttl ttl true"),
			expect(updateTTL("ttl", false), "ttl ttl false"),
			expect(describeTTL(), "ttl DISABLED"),
			expect(updateTTL("other", true), "ttl other true")),
		newCase("no attribute", "The attribute has a name.", dynalite+"updateTimeToLive.js",
			expect(updateTTL("", true), invalid("TimeToLiveSpecification.AttributeName must be non empty")),
			expect(updateTTL("", true,
				set("TimeToLiveSpecification", &types.TimeToLiveSpecification{Enabled: aws.Bool(true)})),
				broken("Value null at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member "+
					"must not be null"))),
		newCase("long attribute", "The attribute's name has at most 255 characters.", doc,
			expect(updateTTL(strings.Repeat("x", 256), true),
				broken("Value '"+strings.Repeat("x", 256)+
					"' at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must have "+
					"length less than or equal to 255"))),
		newCase("no specification", "UpdateTimeToLive has a specification.", dynalite+"updateTimeToLive.js",
			expect(updateTTL("x", true, set("TimeToLiveSpecification", nil)),
				broken(
					"Value null at 'timeToLiveSpecification' failed to satisfy constraint: Member must not be null",
				))),
		newCase("no table", "The table whose TTL is set exists.", dynalite+"describeTimeToLive.js",
			expect(describeTTL(on("missing")),
				"ResourceNotFoundException: Requested resource not found: Table: missing not found"),
			expect(updateTTL("ttl", true, on("missing")),
				"ResourceNotFoundException: Requested resource not found: Table: missing not found")),
		newCase("attribute without TTL", "Where TTL is off, an old ttl is a number like any other.", docTTL,
			holding(row("a", "b", "ttl", 1)),
			expect(get(k), `{pk: "a", sk: "b", ttl: 1}`),
			expect(remove(k, where("#t < :now"), named("#t", "ttl"), with(attrs{":now": 2})), ok)),
		newCase("more than five years past",
			"A ttl more than five years past is ignored: its row is read and written like any other.", docTTL,
			holding(row("a", "b", "ttl", 1_000_000_000)), // 2001
			expect(on_, "ttl ttl true"),
			expect(get(k), `{pk: "a", sk: "b", ttl: 1000000000}`),
			expect(update(k, "SET x = :x", with(attrs{":x": 1})), ok),
			expect(query("pk = :a", with(attrs{":a": "a"})), `1 of 1: {pk: "a", sk: "b", ttl: 1000000000, x: 1}`)),
		newCase("any type", "Any type may be put into the attribute; only numbers matter.", docTTL,
			expect(on_, "ttl ttl true"),
			expect(put(row("a", "b", "ttl", "soon")), ok),
			expect(put(row("a", "c", "ttl", num("1.5"))), ok),
			expect(get(k), `{pk: "a", sk: "b", ttl: "soon"}`)),
		newCase("expired and not deleted",
			"An expired row is read, matched, updated and returned until it is deleted.", docTTLExpired, movesClock,
			needsSweep,
			expect(on_, "ttl ttl true"),
			expect(after(func(now int64) request { return put(row("a", "b", "ttl", int(now)-60)) }), ok),
			expect(get(k, only("pk")), there),
			expect(query("pk = :a", with(attrs{":a": "a"}), only("pk")), "1 of 1: "+there),
			expect(transactGet(actions{get(k, only("pk"))}), "["+there+"]"),
			expect(put(row("a", "b"), where("attribute_not_exists(pk)")), conditionFailed),
			expect(update(k, "SET x = :x", with(attrs{":x": 1}), where("attribute_exists(#t)"), named("#t", "ttl"),
				returns("UPDATED_NEW")),
				"{x: 1}"),
			then(sweep()),
			expect(get(k), gone),
			expect(put(row("a", "b"), where("attribute_not_exists(pk)")), ok)),
		newCase("raised in time", "Raising ttl before the deletion saves the row.", docTTLExpired, movesClock,
			needsSweep,
			expect(on_, "ttl ttl true"),
			expect(after(func(now int64) request { return put(row("a", "b", "ttl", int(now)-60)) }), ok),
			expect(after(func(now int64) request {
				return update(k, "SET #t = :t", named("#t", "ttl"), with(attrs{":t": int(now) + 60}))
			}), ok),
			then(sweep()),
			expect(get(k, only("pk")), there)),
		newCase("disabled in time", "Where TTL was disabled nothing is deleted.", doc, movesClock, needsSweep,
			expect(on_, "ttl ttl true"),
			expect(after(func(now int64) request { return put(row("a", "b", "ttl", int(now)-60)) }), ok),
			expect(updateTTL("ttl", false), "ttl ttl false"),
			then(sweep()),
			expect(get(k, only("pk")), there)),
		newCase("five years past when written", "A row is born expired if its ttl is five years past, and no more.",
			docTTL, movesClock, needsSweep, expect(on_, "ttl ttl true"),
			expect(after(func(now int64) request { return put(row("a", "b", "ttl", past(5*years)(now))) }), ok),
			then(sweep()),
			expect(get(k, only("pk")), gone)),
		expiring("past", "A ttl in the past expires the row.", docTTL, past(1), gone),
		expiring("now", "A ttl of this second expires the row in the next.", docTTL, past(0), gone),
		expiring("next second", "A row is not expired in the second of its ttl.", docTTL, past(-1), there),
		expiring("fraction of the next second", "Nor where that has a fraction.", docTTL,
			func(now int64) any { return num(fmt.Sprint(now+1) + ".5") }, there),
		expiring("future", "A ttl in the future does not expire the row.", docTTL, past(-60), there),
		expiring("fraction", "A ttl with a fraction expires the row like any number.", docTTL,
			func(now int64) any { return num(fmt.Sprint(now-1) + ".5") }, gone),
		expiring("string", "A ttl that is a string is ignored.", docTTL,
			func(now int64) any { return fmt.Sprint(now - 60) }, there),
		expiring("milliseconds", "A ttl in milliseconds lies in the far future.", docTTL,
			func(now int64) any { return num(fmt.Sprint((now - 60) * 1000)) }, there),
		expiring("nearly five years past", "A ttl at most five years past expires the row.", docTTL, past(5*years-1),
			gone),
		expiring("five years past", "A ttl more than five years past is taken for a mistake.", docTTL, past(5*years),
			there),
		expiring("nested", "A ttl inside a map is ignored.", docTTL,
			func(now int64) any { return attrs{"ttl": int(now) - 60} }, there),
	}
}
