package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/cli/jobs"
)

func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		env  string
		want string // a copy, or a part of an error
	}{
		"none":             {"", "0/0 of "},
		"kubernetes":       {"JOB_COMPLETION_INDEX=0 ISR_SIM_SHARDS=3", "1/3 of a Kubernetes Indexed Job"},
		"kubernetes, last": {"JOB_COMPLETION_INDEX=2 ISR_SIM_SHARDS=3", "3/3 of a Kubernetes Indexed Job"},
		"kubernetes, count": {"JOB_COMPLETION_INDEX=2",
			"ISR_SIM_SHARDS is not set\nhint: set ISR_SIM_SHARDS, or give --shard; --shard 1/1 is the whole campaign"},
		"gitlab":            {"GITLAB_CI=true CI_NODE_INDEX=1 CI_NODE_TOTAL=4", "1/4 of GitLab CI/CD"},
		"gitlab, no matrix": {"GITLAB_CI=true CI_NODE_TOTAL=1", "0/0 of "},
		"not gitlab":        {"CI_NODE_INDEX=1 CI_NODE_TOTAL=4", "0/0 of "},
		"circleci":          {"CIRCLE_NODE_INDEX=3 CIRCLE_NODE_TOTAL=4", "4/4 of CircleCI"},
		"buildkite":         {"BUILDKITE_PARALLEL_JOB=0 BUILDKITE_PARALLEL_JOB_COUNT=2", "1/2 of Buildkite"},
		"bitbucket": {"BITBUCKET_PARALLEL_STEP=1 BITBUCKET_PARALLEL_STEP_COUNT=2",
			"2/2 of Bitbucket Pipelines"},
		"semaphore": {"SEMAPHORE_JOB_INDEX=1 SEMAPHORE_JOB_COUNT=2", "1/2 of Semaphore"},
		"azure":     {"SYSTEM_JOBPOSITIONINPHASE=2 SYSTEM_TOTALJOBSINPHASE=2", "2/2 of Azure Pipelines"},
		"aws batch": {"AWS_BATCH_JOB_ARRAY_INDEX=9 AWS_BATCH_JOB_ARRAY_SIZE=10", "10/10 of AWS Batch"},
		"cloud run": {"CLOUD_RUN_TASK_INDEX=0 CLOUD_RUN_TASK_COUNT=1", "1/1 of a Cloud Run job"},
		"slurm": {
			"SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=7 " +
				"SLURM_ARRAY_TASK_STEP=1", "1/8 of Slurm",
		},
		"slurm, in steps": {
			"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7 " +
				"SLURM_ARRAY_TASK_STEP=2", "3/4 of Slurm",
		},
		"slurm, some": {
			"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=9 " +
				"SLURM_ARRAY_TASK_STEP=1", "all of them in the array\nhint: give --shard",
		},
		"slurm, no range": {"SLURM_ARRAY_TASK_ID=5", "expected numbers\nhint: give --shard"},
		"grid engine": {"SGE_TASK_ID=3 SGE_TASK_FIRST=1 SGE_TASK_LAST=5 SGE_TASK_STEPSIZE=2",
			"2/3 of Grid Engine"},
		"grid engine, one": {
			"SGE_TASK_ID=undefined SGE_TASK_FIRST=undefined SGE_TASK_LAST=undefined SGE_TASK_STEPSIZE=undefined",
			"0/0 of ",
		},
		"between": {"SGE_TASK_ID=4 SGE_TASK_FIRST=1 SGE_TASK_LAST=5 SGE_TASK_STEPSIZE=2",
			"expected one of its indices"},
		"parallel": {"PARALLEL_SEQ=1 ISR_SIM_SHARDS=3", "1/3 of GNU parallel"},
		"beyond": {"CIRCLE_NODE_INDEX=4 CIRCLE_NODE_TOTAL=4",
			"found CIRCLE_NODE_INDEX=4 and CIRCLE_NODE_TOTAL=4 of CircleCI"},
		"no number": {"CIRCLE_NODE_INDEX=x CIRCLE_NODE_TOTAL=4",
			"expected numbers, from 0 on\nhint: give --shard; --shard 1/1 is the whole campaign"},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(test.env) {
			key, value, _ := strings.Cut(pair, "=")
			env[key] = value
		}
		c, err := jobs.Find(func(key string) string { return env[key] })
		got := fmt.Sprintf("%d/%d of %s", c.Index, c.Count, c.Engine)
		if err != nil {
			got = err.Error()
		}
		if got != test.want && (err == nil || !strings.Contains(got, test.want)) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
