package audit_test

import (
	"bytes"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/audit"
	"github.com/isr-sim/isr-sim/internal/audit/evidence"
	"github.com/isr-sim/isr-sim/internal/audit/stream"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// steal takes a lock from its live holder.
func (w *world) steal(pk string) {
	w.Helper()
	for _, token := range []string{"alice", "bob"} {
		must.OK(w, w.db.Put("cache", attr.Item{"pk": attr.S(pk), "sk": attr.S("LOCK"), "lease_token": attr.S(token),
			"lease_expires_at": attr.Int(w.Now().Add(time.Minute).Unix())}))
	}
}

// damaged is a stream with violations in several shards, and a gap.
func damaged(t *testing.T, keep string) *world {
	w := newWorld(t)
	w.steal("a")
	w.put(3)
	_, err := w.follow(stream.Options{Once: true, Keep: keep}, nil)
	must.OK(t, err)
	w.Advance(time.Second)
	w.steal("b")
	w.Advance(30 * time.Hour)
	w.roll(true)
	w.put(5)
	w.steal("c")
	w.roll(true)
	w.steal("d")
	w.put(5)
	return w
}

func judgedEntries(t *testing.T, entries []evidence.Entry) audit.Result {
	t.Helper()
	j := must.Of(audit.New(audit.Options{}))(t)
	for _, e := range entries {
		if e.Gap != nil {
			j.Gap(*e.Gap)
		} else {
			j.Take(e.Record)
		}
	}
	j.End()
	return j.Result()
}

// wantSame compares what was read. What the judge says depends on that alone.
func wantSame(t *testing.T, want, got []evidence.Entry) {
	t.Helper()
	if !reflect.DeepEqual(want, got) { // cmp takes far longer
		t.Fatalf("the entries (-want +got):\n%s", cmp.Diff(want, got))
	}
}

// A process that is killed leaves the file cut somewhere. Wherever that is, the next one reads what an undisturbed one
// would, and judges the same.
func TestKilledAnywhere(t *testing.T) {
	effort.OneAtATime(t)
	effort.NotShort(t)
	dir := t.TempDir()
	name := filepath.Join(dir, "kept")
	w := damaged(t, name)
	before, now := must.Of(os.ReadFile(name))(t), w.Now()
	want, err := w.follow(stream.Options{Once: true, Keep: name}, nil)
	must.OK(t, err)
	if gaps := w.gaps(want); len(gaps) != 1 {
		t.Errorf("got gaps %v, want one", gaps)
	}
	result := judgedEntries(t, want)
	if o := result.Outcomes[0]; o.Invariant != "lock-theft" || o.Violated != 3 { // the gap hides one
		t.Errorf("got %+v, want 3 thefts", o)
	}
	whole := must.Of(os.ReadFile(name))(t)
	step := effort.Fewer(1, 17)
	for at := len(before); at <= len(whole); at++ {
		if at%step > 0 && whole[at-1] != '\n' && at < len(whole) && whole[at] != '\n' {
			continue
		}
		must.OK(t, os.WriteFile(name, whole[:at], 0o600))
		w.Set(now)
		got, err := w.follow(stream.Options{Once: true, Keep: name}, nil)
		must.OK(t, err)
		wantSame(t, want, got)
		if again := must.Of(os.ReadFile(name))(t); !bytes.HasPrefix(again, whole) {
			t.Fatalf("cut at %d, it went on with\n%s\nwant\n%s", at, again[at:], whole[at:])
		}
	}
	files := must.Of(evidence.Open([]string{name}, nil))(t)
	var read []evidence.Entry
	for e, err := range files[0].Entries() {
		must.OK(t, err)
		read = append(read, e)
	}
	wantSame(t, want, read)
}

// A reader that stops after any entry has lost nothing.
func TestStoppedAnywhere(t *testing.T) {
	for stop := 1; ; stop++ {
		name := filepath.Join(t.TempDir(), "kept")
		w := damaged(t, name)
		n := 0
		for _, err := range stream.Follow(t.Context(), w.client, w.arn,
			stream.Options{Clock: w, Once: true, Keep: name}) {
			must.OK(t, err)
			if n++; n == stop {
				break
			}
		}
		got, err := w.follow(stream.Options{Once: true, Keep: name}, nil)
		must.OK(t, err)
		w.gaps(got)
		if result := judgedEntries(t, got); result.Outcomes[0].Violated != 3 || result.Duplicates != 0 {
			t.Errorf("stopped after %d: got %+v", stop, result.Outcomes[0])
		}
		if n < stop {
			return
		}
	}
}

// How long nobody has read decides whether something may be lost.
func TestGapsBetweenTwoReaders(t *testing.T) {
	for _, test := range []struct {
		name   string
		before func(*world)
		since  time.Duration
		gaps   int
	}{
		{"a quiet day", func(w *world) { w.put(3) }, 23 * time.Hour, 0},
		{"more than a day", func(w *world) { w.put(3) }, 30 * time.Hour, 1},
		{"a stream without a record", func(*world) {}, 30 * time.Hour, 0},
		{"a shard that has ended, a day ago", func(w *world) { w.put(3); w.roll(false) }, 23 * time.Hour, 0},
		{"a shard that has ended, longer ago", func(w *world) { w.put(3); w.roll(false) }, 30 * time.Hour, 1},
		{"a shard that was quiet, and ended, a day ago", func(w *world) {
			w.put(3)
			w.Advance(20 * time.Hour)
		}, 23 * time.Hour, 0},
		{"two shards, of which one is quiet", func(w *world) { w.roll(true); w.put(1) }, 23 * time.Hour, 0},
		{"a month, of the last shard and of the first one", func(w *world) { w.put(3) }, 30 * 24 * time.Hour, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			test.before(w)
			o := stream.Options{Once: true, Keep: filepath.Join(t.TempDir(), "kept")}
			_, err := w.follow(o, nil)
			must.OK(t, err)
			w.Advance(test.since)
			w.put(3)
			for range 2 {
				got, err := w.follow(o, nil)
				must.OK(t, err)
				if gaps := w.gaps(got); len(gaps) != test.gaps {
					t.Errorf("got gaps %v, want %d", gaps, test.gaps)
				}
			}
		})
	}
}

func TestFilesThatAreNotKeptOnes(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "kept")
	w := newWorld(t)
	w.put(2)
	_, err := w.follow(stream.Options{Once: true, Keep: kept}, nil)
	must.OK(t, err)
	whole := string(must.Of(os.ReadFile(kept))(t))
	for _, test := range []struct{ name, text, want string }{
		{"another stream's", strings.ReplaceAll(whole, "/stream/2040", "/stream/2030"), "has records of arn:"},
		{"of notes", "to do\n", ":1: found no record that an audit has kept"},
		{"of notes without an end", "to do", ":1: found no record that an audit has kept"},
		{"of records that something else has written", `{"eventID":"1"}` + "\n", ":1: found no record"},
		{"damaged", whole + `{"shardId":"shardId-1", ` + "\n" + whole, ":3: found no record"},
	} {
		t.Run(test.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "kept")
			must.OK(t, os.WriteFile(name, []byte(test.text), 0o600))
			_, err := w.follow(stream.Options{Once: true, Keep: name}, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want %q in it", err, test.want)
			}
			if got := string(must.Of(os.ReadFile(name))(t)); got != test.text {
				t.Errorf("the file is now %q", got)
			}
		})
	}
}

// A stream without images is kept as such.
func TestKeptWithoutImages(t *testing.T) {
	w := newWorld(t)
	w.update(&types.StreamSpecification{StreamEnabled: aws.Bool(false)})
	w.enable(types.StreamViewTypeNewImage)
	w.put(3)
	o := stream.Options{Once: true, Keep: filepath.Join(t.TempDir(), "kept")}
	want, err := w.follow(o, nil)
	must.OK(t, err)
	got, err := w.follow(o, nil)
	must.OK(t, err)
	if wantSame(t, want, got); len(got) != 3 || got[0].Record.Images {
		t.Errorf("got %v, want 3 records without images", got)
	}
}

func TestTwoWriters(t *testing.T) {
	w := newWorld(t)
	w.put(2)
	name := filepath.Join(t.TempDir(), "kept")
	next, end := iter.Pull2(stream.Follow(t.Context(), w.client, w.arn, stream.Options{Clock: w, Keep: name}))
	_, err, _ := next()
	must.OK(t, err)
	_, err = w.follow(stream.Options{Once: true, Keep: name}, nil)
	if err == nil || !strings.Contains(err.Error(), "another process writes") {
		t.Errorf("a second writer got %v", err)
	}
	end()
	_, err = w.follow(stream.Options{Once: true, Keep: name}, nil)
	must.OK(t, err)
}

func TestPolicy(t *testing.T) {
	want := map[string]string{
		"dynamodb:DescribeTable": "table/cache", "dynamodb:DescribeStream": "table/cache/stream/*",
		"dynamodb:GetShardIterator": "table/cache/stream/*", "dynamodb:GetRecords": "table/cache/stream/*",
	}
	for _, of := range []struct{ arn, account string }{
		{"arn:aws:dynamodb:eu-west-1:123456789012:table/cache/stream/2026-01-31T12:00:00.000", "eu-west-1:123456789012"},
		{"arn:aws:dynamodb:eu-west-1:123456789012:table/cache", "eu-west-1:123456789012"},
		{"cache", "REGION:ACCOUNT"},
		{"", "REGION:ACCOUNT"},
	} {
		var policy struct {
			Version   string
			Statement []struct {
				Effect, Resource string
				Action           []string
			}
		}
		must.OK(t, json.Unmarshal([]byte(stream.Policy(of.arn)), &policy))
		got := map[string]string{}
		for _, s := range policy.Statement {
			if s.Effect != "Allow" {
				t.Errorf("got %+v", s)
			}
			for _, a := range s.Action {
				resource := strings.TrimPrefix(s.Resource, "arn:aws:dynamodb:"+of.account+":")
				got[a] = strings.Replace(resource, "TABLE", "cache", 1)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || policy.Version != "2012-10-17" {
			t.Errorf("%q: the policy (-want +got):\n%s", of.arn, diff)
		}
	}
}
