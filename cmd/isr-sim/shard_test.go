package main

import (
	"errors"
	"strings"
	"testing"
)

func TestShardsOfEngines(t *testing.T) {
	for name, test := range map[string]struct {
		flag, env string
		want      string // a shard, or a part of an error
	}{
		"nobody":            {"", "", "1/1"},
		"flag":              {"2/4", "CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=8", "2/4"},
		"bad flag":          {"0/4", "", `--shard: found "0/4"`},
		"kubernetes":        {"", "JOB_COMPLETION_INDEX=0 ISR_SIM_SHARDS=3", "1/3"},
		"kubernetes, last":  {"", "JOB_COMPLETION_INDEX=2 ISR_SIM_SHARDS=3", "3/3"},
		"kubernetes, count": {"", "JOB_COMPLETION_INDEX=2", "ISR_SIM_SHARDS is not set"},
		"gitlab":            {"", "GITLAB_CI=true CI_NODE_INDEX=1 CI_NODE_TOTAL=4", "1/4"},
		"gitlab, no matrix": {"", "GITLAB_CI=true CI_NODE_TOTAL=1", "1/1"},
		"not gitlab":        {"", "CI_NODE_INDEX=1 CI_NODE_TOTAL=4", "1/1"},
		"circleci":          {"", "CIRCLE_NODE_INDEX=3 CIRCLE_NODE_TOTAL=4", "4/4"},
		"buildkite":         {"", "BUILDKITE_PARALLEL_JOB=0 BUILDKITE_PARALLEL_JOB_COUNT=2", "1/2"},
		"bitbucket":         {"", "BITBUCKET_PARALLEL_STEP=1 BITBUCKET_PARALLEL_STEP_COUNT=2", "2/2"},
		"semaphore":         {"", "SEMAPHORE_JOB_INDEX=1 SEMAPHORE_JOB_COUNT=2", "1/2"},
		"azure":             {"", "SYSTEM_JOBPOSITIONINPHASE=2 SYSTEM_TOTALJOBSINPHASE=2", "2/2"},
		"aws batch":         {"", "AWS_BATCH_JOB_ARRAY_INDEX=9 AWS_BATCH_JOB_ARRAY_SIZE=10", "10/10"},
		"cloud run":         {"", "CLOUD_RUN_TASK_INDEX=0 CLOUD_RUN_TASK_COUNT=1", "1/1"},
		"beyond":            {"", "CIRCLE_NODE_INDEX=4 CIRCLE_NODE_TOTAL=4", "found CIRCLE_NODE_INDEX=4 and CIRCLE_NODE_TOTAL=4 of CircleCI"},
		"no number":         {"", "CIRCLE_NODE_INDEX=x CIRCLE_NODE_TOTAL=4", "expected numbers, from 0 on"},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(test.env) {
			key, value, _ := strings.Cut(pair, "=")
			env[key] = value
		}
		s, _, err := findShard(test.flag, func(key string) string { return env[key] })
		got := s.String()
		if err != nil {
			got = err.Error()
			if e, ok := errors.AsType[*exitError](err); !ok || e.code != exitUsage {
				t.Errorf("%s: %v is no usage error", name, err)
			}
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
