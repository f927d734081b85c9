package isr_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Of the hashes, those of "abc" and of nothing are the test vectors of the standard.
//
// Source: https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values
func TestPartitionKey(t *testing.T) {
	const ofABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	const ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for _, test := range []struct{ tenant, key, want string }{
		{"", "abc", "CACHE#" + ofABC},
		{"t1", "abc", "TENANT#t1#CACHE#" + ofABC},
		{"", "", "CACHE#" + ofNothing},
		{"a#b", "", "TENANT#a#b#CACHE#" + ofNothing},
	} {
		if got := isr.PartitionKey(test.tenant, test.key); got != test.want {
			t.Errorf("PartitionKey(%q, %q) = %s, want %s", test.tenant, test.key, got, test.want)
		}
	}
}

// A tenant's name is not escaped. That lets nobody into another tenant's
// partitions, whatever the names contain.
func TestPartitionKeysOfDifferentPagesDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenant := rapid.SampledFrom([]string{"", "a", "a#CACHE", "a#CACHE#", "TENANT#a", "#", isr.PartitionKey("", "/x"), isr.PartitionKey("a", "/")})
		cacheKey := rapid.SampledFrom([]string{"", "/", "/x", "CACHE#", "a", isr.PartitionKey("a", "/")})
		tenant1, key1 := tenant.Draw(t, "tenant 1"), cacheKey.Draw(t, "key 1")
		tenant2, key2 := tenant.Draw(t, "tenant 2"), cacheKey.Draw(t, "key 2")
		same := isr.PartitionKey(tenant1, key1) == isr.PartitionKey(tenant2, key2)
		if want := tenant1 == tenant2 && key1 == key2; same != want {
			t.Errorf("partition keys equal: %v, want %v", same, want)
		}
	})
}

func TestNowRoundsDownAndAnExpiryUp(t *testing.T) {
	for _, test := range []struct {
		name        string
		at          time.Time
		floor, ceil isr.EpochSeconds
	}{
		{"a whole second", time.Unix(100, 0), 100, 100},
		{"a nanosecond later", time.Unix(100, 1), 100, 101},
		{"a nanosecond before", time.Unix(99, 999_999_999), 99, 100},
		{"the epoch", time.Unix(0, 0), 0, 0},
		{"a nanosecond before the epoch", time.Unix(-1, 999_999_999), -1, 0},
		{"another time zone", time.Unix(100, 1).In(time.FixedZone("", 5400)), 100, 101},
	} {
		if got := isr.Floor(test.at); got != test.floor {
			t.Errorf("%s: Floor = %d, want %d", test.name, got, test.floor)
		}
		if got := isr.Ceil(test.at); got != test.ceil {
			t.Errorf("%s: Ceil = %d, want %d", test.name, got, test.ceil)
		}
	}
}

func TestEpochSecondsIsAnInstantInUTC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := isr.EpochSeconds(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "seconds"))
		at := e.Time()
		if at.Location() != time.UTC || isr.Floor(at) != e || isr.Ceil(at) != e {
			t.Errorf("%d is %v, which is %d to %d", e, at, isr.Floor(at), isr.Ceil(at))
		}
	})
}

var (
	s = func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	n = func(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

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
			isr.Meta{PK: "p", S3Key: "b", GeneratedAt: 100, RevalidateSeconds: 60, ETag: `"e"`, TTL: 86560}.Item(),
			row{"pk": s("p"), "sk": s("META"), "s3_key": s("b"), "generated_at": n("100"), "revalidate_seconds": n("60"),
				"etag": s(`"e"`), "ttl": n("86560")},
		},
		{
			"META without the optional attributes",
			isr.Meta{PK: "p", S3Key: "b", GeneratedAt: 100, RevalidateSeconds: 60}.Item(),
			row{"pk": s("p"), "sk": s("META"), "s3_key": s("b"), "generated_at": n("100"), "revalidate_seconds": n("60")},
		},
		{
			"LOCK",
			isr.Lock{PK: "p", LeaseToken: "t", LeaseExpiresAt: 130, TTL: 3730}.Item(),
			row{"pk": s("p"), "sk": s("LOCK"), "lease_token": s("t"), "lease_expires_at": n("130"), "ttl": n("3730")},
		},
		{
			"LOCK without ttl",
			isr.Lock{PK: "p", LeaseToken: "t", LeaseExpiresAt: 130}.Item(),
			row{"pk": s("p"), "sk": s("LOCK"), "lease_token": s("t"), "lease_expires_at": n("130")},
		},
		{"a key", isr.Key("p", isr.SortLock), row{"pk": s("p"), "sk": s("LOCK")}},
	} {
		if diff := cmp.Diff(test.want, test.got, sdkValues); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestRowsSurvive(t *testing.T) {
	some := rapid.StringN(1, -1, -1)
	rapid.Check(t, func(t *rapid.T) {
		seconds := func(label string) isr.EpochSeconds { return isr.EpochSeconds(rapid.Int64().Draw(t, label)) }
		meta := isr.Meta{
			PK: rapid.String().Draw(t, "pk"), S3Key: some.Draw(t, "s3_key"), ETag: rapid.String().Draw(t, "etag"),
			CurrentSK:   rapid.SampledFrom([]string{"", "VER#1"}).Draw(t, "current_sk"),
			GeneratedAt: seconds("generated_at"), RevalidateSeconds: rapid.Int64().Draw(t, "revalidate_seconds"), TTL: seconds("ttl"),
			Version: rapid.Int64().Draw(t, "version"), Invalidated: rapid.Int64().Draw(t, "invalidated_version"),
		}
		if got, err := isr.ParseMeta(meta.Item()); err != nil || got != meta {
			t.Errorf("got %+v, %v, want %+v", got, err, meta)
		}
		sameInPackageAttributevalue(t, meta, meta.Item())

		version := isr.Version{
			PK: meta.PK, SK: "VER#" + meta.S3Key, S3Key: meta.S3Key, ETag: meta.ETag, GeneratedAt: meta.GeneratedAt,
			RevalidateSeconds: meta.RevalidateSeconds, Version: meta.Version, TTL: meta.TTL,
		}
		if got, err := isr.ParseVersion(version.Item()); err != nil || got != version {
			t.Errorf("got %+v, %v, want %+v", got, err, version)
		}
		sameInPackageAttributevalue(t, version, version.Item())

		lock := isr.Lock{PK: meta.PK, LeaseToken: meta.ETag, LeaseExpiresAt: meta.GeneratedAt, TTL: meta.TTL}
		sameInPackageAttributevalue(t, lock, lock.Item())
	})
}

// sameInPackageAttributevalue checks that the SDK's own way from a model to a row and back gives the same.
func sameInPackageAttributevalue[Model comparable](t rapid.TB, want Model, item row) {
	t.Helper()
	marshalled, err := attributevalue.MarshalMap(want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(item, marshalled, sdkValues); diff != "" {
		t.Errorf("%T (-its Item +MarshalMap):\n%s", want, diff)
	}
	var got Model
	if err := attributevalue.UnmarshalMap(item, &got); err != nil || got != want {
		t.Errorf("UnmarshalMap: got %+v, %v, want %+v", got, err, want)
	}
}

func TestModelsReadNoOtherRows(t *testing.T) {
	lock := isr.Lock{PK: "p", LeaseToken: "t"}.Item()
	var meta isr.Meta
	wantMention(t, attributevalue.UnmarshalMap(lock, &meta), "sk", `"LOCK" (S)`, `"META"`)
	lock["sk"] = s("META")
	var of isr.Lock
	wantMention(t, attributevalue.UnmarshalMap(lock, &of), "sk", `"META" (S)`, `"LOCK"`)
}

// What an invalidation leaves where there is no page.
func TestParseMetaWithoutAPage(t *testing.T) {
	got, err := isr.ParseMeta(row{"pk": s("p"), "sk": s("META"), "version": n("3"), "invalidated_version": n("3"), "revalidate_seconds": n("0"), "ttl": n("9")})
	if want := (isr.Meta{PK: "p", Version: 3, Invalidated: 3, TTL: 9}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestParseVersionNamesTheWrongAttribute(t *testing.T) {
	for _, name := range []string{"pk", "sk", "s3_key", "generated_at", "revalidate_seconds"} {
		item := isr.Version{PK: "p", SK: "VER#1", S3Key: "b", GeneratedAt: 100, RevalidateSeconds: 60}.Item()
		delete(item, name)
		_, err := isr.ParseVersion(item)
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
		{"no generated_at", func(r row) { delete(r, "generated_at") }, []string{"generated_at", "nothing", "number (N)"}},
		{"no revalidate_seconds", func(r row) { delete(r, "revalidate_seconds") }, []string{"revalidate_seconds"}},
		{"a number as text", func(r row) { r["generated_at"] = s("100") }, []string{"generated_at", `"100" (S)`}},
		{"a text as number", func(r row) { r["s3_key"] = n("7") }, []string{"s3_key", "7 (N)"}},
		{"a fraction", func(r row) { r["generated_at"] = n("100.5") }, []string{"generated_at", "100.5", "whole number"}},
		{"too large", func(r row) { r["revalidate_seconds"] = n(tooLarge) }, []string{"revalidate_seconds", tooLarge}},
		{"an etag that is none", func(r row) { r["etag"] = n("1") }, []string{"etag"}},
		{"a ttl that is none", func(r row) { r["ttl"] = s("soon") }, []string{"ttl", `"soon"`}},
		{"a list", func(r row) { r["ttl"] = &types.AttributeValueMemberL{} }, []string{"ttl", "AttributeValueMemberL"}},
		{"a pointer without an age", func(r row) { delete(r, "s3_key"); r["current_sk"] = s("VER#1"); delete(r, "generated_at") }, []string{"generated_at"}},
		{"a version that is none", func(r row) { r["version"] = s("first") }, []string{"version", `"first"`}},
		{"two wrong ones: the first", func(r row) { delete(r, "revalidate_seconds"); delete(r, "generated_at") }, []string{"generated_at"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			item := isr.Meta{PK: "p", S3Key: "b", GeneratedAt: 100, RevalidateSeconds: 60, ETag: "e", TTL: 200}.Item()
			test.spoil(item)
			got, err := isr.ParseMeta(item)
			wantMention(t, err, append(test.want, "META")...)
			if got != (isr.Meta{}) {
				t.Errorf("got %+v beside the error, want nothing", got)
			}
		})
	}
	if _, err := isr.ParseMeta(nil); err == nil {
		t.Error("no row at all parses")
	}
}

// Other attributes are other people's business.
func TestParseMetaPassesOverWhatItDoesNotKnow(t *testing.T) {
	want := isr.Meta{PK: "p", S3Key: "b", GeneratedAt: 100, RevalidateSeconds: 60}
	item := want.Item()
	item["flavour"] = n("7")
	got, err := isr.ParseMeta(item)
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
