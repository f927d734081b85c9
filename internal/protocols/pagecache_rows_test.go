package protocols_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func TestNowRoundsDownAndAnExpiryUp(t *testing.T) {
	for _, test := range []struct {
		name        string
		at          time.Time
		floor, ceil pagecache.EpochSeconds
	}{
		{"a whole second", time.Unix(100, 0), 100, 100},
		{"a nanosecond later", time.Unix(100, 1), 100, 101},
		{"a nanosecond before", time.Unix(99, 999_999_999), 99, 100},
		{"the epoch", time.Unix(0, 0), 0, 0},
		{"a nanosecond before the epoch", time.Unix(-1, 999_999_999), -1, 0},
		{"another time zone", time.Unix(100, 1).In(time.FixedZone("", 5400)), 100, 101},
	} {
		if got := pagecache.Floor(test.at); got != test.floor {
			t.Errorf("%s: Floor = %d, want %d", test.name, got, test.floor)
		}
		if got := pagecache.Ceil(test.at); got != test.ceil {
			t.Errorf("%s: Ceil = %d, want %d", test.name, got, test.ceil)
		}
	}
}

func TestEpochSecondsIsAnInstantInUTC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := pagecache.EpochSeconds(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "seconds"))
		at := e.Time()
		if at.Location() != time.UTC || pagecache.Floor(at) != e || pagecache.Ceil(at) != e {
			t.Errorf("%d is %v, which is %d to %d", e, at, pagecache.Floor(at), pagecache.Ceil(at))
		}
	})
}

var (
	str = func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	num = func(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

	sdkValues = cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{})
)

type row = map[string]types.AttributeValue

func TestRowsAsDynamoDBStoresThem(t *testing.T) {
	for _, test := range []struct {
		name      string
		got, want row
	}{
		{
			"META",
			pagecache.Meta{
				PK: "p", S3Key: "b", GeneratedAt: 100, RevalidateSeconds: 60, ETag: `"e"`, TTL: 86560,
			}.Item(),
			row{"pk": str("p"), "sk": str("META"), "s3_key": str("b"), "generated_at": num("100"),
				"revalidate_seconds": num("60"), "etag": str(`"e"`), "ttl": num("86560")},
		},
		{
			"META without the optional attributes",
			pagecache.Meta{PK: "p", S3Key: "b", GeneratedAt: 100, RevalidateSeconds: 60}.Item(),
			row{"pk": str("p"), "sk": str("META"), "s3_key": str("b"), "generated_at": num("100"),
				"revalidate_seconds": num("60")},
		},
		{
			"LOCK",
			pagecache.Lock{PK: "p", LeaseToken: "t", LeaseExpiresAt: 130, TTL: 3730}.Item(),
			row{"pk": str("p"), "sk": str("LOCK"), "lease_token": str("t"), "lease_expires_at": num("130"),
				"ttl": num("3730")},
		},
		{
			"LOCK without ttl",
			pagecache.Lock{PK: "p", LeaseToken: "t", LeaseExpiresAt: 130}.Item(),
			row{"pk": str("p"), "sk": str("LOCK"), "lease_token": str("t"), "lease_expires_at": num("130")},
		},
		{"a key", pagecache.Key("p", isr.SortLock), row{"pk": str("p"), "sk": str("LOCK")}},
	} {
		if diff := cmp.Diff(test.want, test.got, sdkValues); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestRowsSurvive(t *testing.T) {
	some := rapid.StringN(1, -1, -1)
	rapid.Check(t, func(t *rapid.T) {
		seconds := func(label string) pagecache.EpochSeconds {
			return pagecache.EpochSeconds(rapid.Int64().Draw(t, label))
		}
		meta := pagecache.Meta{
			PK: rapid.String().Draw(t, "pk"), S3Key: some.Draw(t, "s3_key"), ETag: rapid.String().Draw(t, "etag"),
			CurrentSK:   rapid.SampledFrom([]string{"", "VER#1"}).Draw(t, "current_sk"),
			GeneratedAt: seconds("generated_at"), RevalidateSeconds: rapid.Int64().Draw(t, "revalidate_seconds"),
			TTL: seconds("ttl"), Version: rapid.Int64().Draw(t, "version"),
			Invalidated: rapid.Int64().Draw(t, "invalidated_version"),
		}
		if got, err := pagecache.ParseMeta(meta.Item()); err != nil || got != meta {
			t.Errorf("got %+v, %v, want %+v", got, err, meta)
		}

		version := pagecache.Version{
			PK: meta.PK, SK: "VER#" + meta.S3Key, S3Key: meta.S3Key, ETag: meta.ETag, GeneratedAt: meta.GeneratedAt,
			RevalidateSeconds: meta.RevalidateSeconds, Version: meta.Version, TTL: meta.TTL,
		}
		if got, err := pagecache.ParseVersion(version.Item()); err != nil || got != version {
			t.Errorf("got %+v, %v, want %+v", got, err, version)
		}
	})
}

// This row is left by an invalidation of a missing page.
func TestParseMetaWithoutAPage(t *testing.T) {
	got, err := pagecache.ParseMeta(row{
		"pk": str("p"), "sk": str("META"), "version": num("3"), "invalidated_version": num("3"),
		"revalidate_seconds": num("0"), "ttl": num("9")})
	if want := (pagecache.Meta{PK: "p", Version: 3, Invalidated: 3, TTL: 9}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestParseVersionNamesTheWrongAttribute(t *testing.T) {
	for _, name := range []string{"pk", "sk", "s3_key", "generated_at", "revalidate_seconds"} {
		item := pagecache.Version{PK: "p", SK: "VER#1", S3Key: "b", GeneratedAt: 100, RevalidateSeconds: 60}.Item()
		delete(item, name)
		_, err := pagecache.ParseVersion(item)
		wantMention(t, err, "VER#", name, "nothing")
	}
}

func TestParseMetaNamesTheWrongAttribute(t *testing.T) {
	tooLarge := strconv.FormatUint(math.MaxUint64, 10)
	for _, test := range []struct {
		name  string
		spoil func(row)
		want  []string
	}{
		{"no pk", func(r row) { delete(r, "pk") }, []string{"pk", "nothing", "string (S)"}},
		{"no s3_key", func(r row) { delete(r, "s3_key") }, []string{"s3_key", "nothing"}},
		{"no generated_at", func(r row) { delete(r, "generated_at") },
			[]string{"generated_at", "nothing", "number (N)"}},
		{"no revalidate_seconds", func(r row) { delete(r, "revalidate_seconds") }, []string{"revalidate_seconds"}},
		{"a number as text", func(r row) { r["generated_at"] = str("100") }, []string{"generated_at", `"100" (S)`}},
		{"a text as number", func(r row) { r["s3_key"] = num("7") }, []string{"s3_key", "7 (N)"}},
		{"a fraction", func(r row) { r["generated_at"] = num("100.5") },
			[]string{"generated_at", "100.5", "whole number"}},
		{"too large", func(r row) { r["revalidate_seconds"] = num(tooLarge) },
			[]string{"revalidate_seconds", tooLarge}},
		{"an etag that is none", func(r row) { r["etag"] = num("1") }, []string{"etag"}},
		{"a ttl that is none", func(r row) { r["ttl"] = str("soon") }, []string{"ttl", `"soon"`}},
		{"a list", func(r row) { r["ttl"] = &types.AttributeValueMemberL{} }, []string{"ttl", "AttributeValueMemberL"}},
		{"a pointer without an age", func(r row) {
			delete(r, "s3_key")
			r["current_sk"] = str("VER#1")
			delete(r, "generated_at")
		}, []string{"generated_at"}},
		{"a version that is none", func(r row) { r["version"] = str("first") }, []string{"version", `"first"`}},
		{"two wrong ones: the first", func(r row) { delete(r, "revalidate_seconds"); delete(r, "generated_at") },
			[]string{"generated_at"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			item := pagecache.Meta{
				PK: "p", S3Key: "b", GeneratedAt: 100, RevalidateSeconds: 60, ETag: "e", TTL: 200,
			}.Item()
			test.spoil(item)
			got, err := pagecache.ParseMeta(item)
			wantMention(t, err, append(test.want, "META")...)
			if got != (pagecache.Meta{}) {
				t.Errorf("got %+v together with the error, want nothing", got)
			}
		})
	}
	if _, err := pagecache.ParseMeta(nil); err == nil {
		t.Error("no row at all parses")
	}
}

// Other attributes are ignored: they belong to others.
func TestParseMetaPassesOverWhatItDoesNotKnow(t *testing.T) {
	want := pagecache.Meta{PK: "p", S3Key: "b", GeneratedAt: 100, RevalidateSeconds: 60}
	item := want.Item()
	item["flavour"] = num("7")
	got, err := pagecache.ParseMeta(item)
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
