package report_test

import (
	"encoding/json"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/show/record"
)

// shown has what the page's script shows about steps.
type shown struct {
	Changes map[string][]struct{ Attr map[string]string }
	Calls   map[string][3][]int
	Words   []string
}

func shownOf(t *testing.T, r *record.Record) (s shown) {
	t.Helper()
	for _, n := range elements(t, page(t, r)) {
		if attribute(n, "id") == "data" {
			if err := json.Unmarshal([]byte(textOf(n)), &s); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// Attributes that are times by the row mapping are shown as times of the run, in every unit. Others are not.
func TestTimesInValues(t *testing.T) {
	r := blindPublish(t)
	r.Times = map[string]string{"expires": "ms", "made": "iso8601", "ttl": "s", "soon": "us"}
	at := r.Start.Add(90 * time.Second)
	number := func(n int64) map[string]any { return map[string]any{"N": strconv.FormatInt(n, 10)} }
	text := func(s string) map[string]any { return map[string]any{"S": s} }
	row := record.Row{
		"expires": number(at.UnixMilli()), "made": text(at.Format(time.RFC3339)), "ttl": number(at.Unix()),
		"soon": number(at.UnixMicro()), "count": number(at.Unix()), "text": text(at.Format(time.RFC3339)),
		"millis": number(at.UnixMilli()),
	}
	far := record.Row{"ttl": number(at.UnixMilli()), "expires": text("never")}
	var steps []int
	for i := range r.Steps {
		if len(r.Steps[i].Changes) > 0 {
			steps = append(steps, i)
		}
	}
	first, second := &r.Steps[steps[0]], &r.Steps[steps[1]]
	first.Changes[0].After, first.Changes[0].Means = row, []record.Meaning{{Role: "page"}}
	second.Changes[0].After, second.Changes[0].Means = far, []record.Meaning{{Role: "page"}}
	first.Call = &record.Call{Operation: "UpdateItem", Request: map[string]any{
		"Key": map[string]any{"id": text("1")}, "ExpressionAttributeNames": map[string]any{"#e": "expires"},
		"UpdateExpression":    "SET #e = :until, made = :base + :more, count = :count",
		"ConditionExpression": ":now < #e AND count < :both AND ttl > :both",
		"ExpressionAttributeValues": map[string]any{
			":until": number(at.UnixMilli()), ":now": number(r.Start.UnixMilli()), ":count": number(at.Unix()),
			":both": number(at.Unix()), ":base": text(at.Format(time.RFC3339)), ":more": number(at.Unix()),
		},
	}}
	s := shownOf(t, r)
	digits := func(n int64) string { return strconv.FormatInt(n, 10) }
	got := []map[string]string{s.Changes[strconv.Itoa(steps[0])][0].Attr, s.Changes[strconv.Itoa(steps[1])][0].Attr, {}}
	call := s.Calls[strconv.Itoa(steps[0])]
	for i := 0; i < len(call[1]); i += 2 {
		got[2][s.Words[call[1][i]]] = s.Words[call[1][i+1]]
	}
	maps.DeleteFunc(got[2],
		func(name, _ string) bool { return name[0] != 'E' || name == "ExpressionAttributeNames #e" })
	want := []map[string]string{
		{
			"expires": digits(at.UnixMilli()) + " (+1m30s)", "made": at.Format(time.RFC3339) + " (+1m30s)",
			"ttl": digits(at.Unix()) + " (+1m30s)", "soon": digits(at.UnixMicro()) + " (+1m30s)",
			"count": digits(at.Unix()), "text": at.Format(time.RFC3339), "millis": digits(at.UnixMilli()),
		},
		{"ttl": digits(at.UnixMilli()), "expires": "never"},
		{
			"ExpressionAttributeValues :until": digits(at.UnixMilli()) + " (+1m30s)",
			"ExpressionAttributeValues :now":   digits(r.Start.UnixMilli()) + " (+0s)",
			"ExpressionAttributeValues :count": digits(at.Unix()), "ExpressionAttributeValues :both": digits(at.Unix()),
			"ExpressionAttributeValues :base": at.Format(time.RFC3339),
			"ExpressionAttributeValues :more": digits(at.Unix()),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}

	// In a row that the mapping does not know, an attribute of this name may mean anything.
	first.Changes[0].Means = nil
	if got := shownOf(t, r).Changes[strconv.Itoa(steps[0])][0].Attr["ttl"]; got != digits(at.Unix()) {
		t.Errorf("a row outside of the mapping shows %q", got)
	}
}
