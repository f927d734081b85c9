package fleet

import (
	"errors"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/cli"
)

func TestShard(t *testing.T) {
	for name, test := range map[string]struct {
		flag, env string
		want      string // a shard and who says so, or a part of an error
	}{
		"whole":      {"", "", "1/1"},
		"flag":       {"2/4", "CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=8", "2/4 --shard"},
		"bad flag":   {"0/4", "", `--shard: found "0/4"`},
		"engine":     {"", "CIRCLE_NODE_INDEX=3 CIRCLE_NODE_TOTAL=4", "4/4 CircleCI"},
		"bad engine": {"", "CIRCLE_NODE_INDEX=4 CIRCLE_NODE_TOTAL=4", "found CIRCLE_NODE_INDEX=4 and CIRCLE_NODE_TOTAL=4 of CircleCI"},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(test.env) {
			key, value, _ := strings.Cut(pair, "=")
			env[key] = value
		}
		s, by, err := FindShard(test.flag, func(key string) string { return env[key] })
		got := strings.TrimSpace(s.String() + " " + by)
		if err != nil {
			got = err.Error()
			if e, ok := errors.AsType[*cli.Error](err); !ok || e.Code != cli.ExitUsage {
				t.Errorf("%s: %v is no usage error", name, err)
			}
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
