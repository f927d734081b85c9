package main

import (
	"fmt"
	"strconv"

	"github.com/isr-sim/isr-sim/scenario"
)

// shardCount is the variable that says how many shards there are where the engine
// only says which one this is.
const shardCount = "ISR_SIM_SHARDS"

// engine is something that starts several copies of one job, and how it tells
// them apart.
type engine struct {
	name         string
	index, count string // its variables
	first        int    // what the index begins with
	only         string // a variable that must be set, too
}

// engines are those whose variables are read, the first that is found.
var engines = []engine{
	// Source: https://kubernetes.io/docs/tasks/job/indexed-parallel-processing-static/. The number of completions is in no
	// variable.
	{name: "a Kubernetes Indexed Job", index: "JOB_COMPLETION_INDEX", count: shardCount},
	// Source: https://docs.gitlab.com/ci/variables/predefined_variables/. Others who set these count from 0.
	{name: "GitLab CI/CD", index: "CI_NODE_INDEX", count: "CI_NODE_TOTAL", first: 1, only: "GITLAB_CI"},
	// Source: https://circleci.com/docs/variables/
	{name: "CircleCI", index: "CIRCLE_NODE_INDEX", count: "CIRCLE_NODE_TOTAL"},
	// Source: https://buildkite.com/docs/pipelines/configure/environment-variables
	{name: "Buildkite", index: "BUILDKITE_PARALLEL_JOB", count: "BUILDKITE_PARALLEL_JOB_COUNT"},
	// Source: https://support.atlassian.com/bitbucket-cloud/docs/set-up-or-run-parallel-steps/
	{name: "Bitbucket Pipelines", index: "BITBUCKET_PARALLEL_STEP", count: "BITBUCKET_PARALLEL_STEP_COUNT"},
	// Source: https://docs.semaphore.io/reference/env-vars
	{name: "Semaphore", index: "SEMAPHORE_JOB_INDEX", count: "SEMAPHORE_JOB_COUNT", first: 1},
	// Source: https://learn.microsoft.com/en-us/azure/devops/pipelines/test/parallel-testing-any-test-runner
	{name: "Azure Pipelines", index: "SYSTEM_JOBPOSITIONINPHASE", count: "SYSTEM_TOTALJOBSINPHASE", first: 1},
	// Source: https://docs.aws.amazon.com/batch/latest/userguide/job_env_vars.html
	{name: "AWS Batch", index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE"},
	// Source: https://cloud.google.com/run/docs/container-contract
	{name: "a Cloud Run job", index: "CLOUD_RUN_TASK_INDEX", count: "CLOUD_RUN_TASK_COUNT"},
}

// findShard returns the shard that the flag or the environment says this is, and
// who says so. Without either it is the whole.
func findShard(flag string, getenv func(string) string) (s scenario.Shard, by string, err error) {
	if flag != "" {
		s, err := scenario.ParseShard(flag)
		if err != nil {
			return s, "", usage(fmt.Errorf("--%w", err), "")
		}
		return s, "--shard", nil
	}
	for _, e := range engines {
		index, count := getenv(e.index), getenv(e.count)
		if index == "" || e.only != "" && getenv(e.only) == "" {
			continue
		}
		if count == "" {
			return s, "", usage(fmt.Errorf("found %s=%s of %s, but not in how many shards the campaign is split: %s is not set", e.index, index, e.name, e.count),
				fmt.Sprintf("set %s, or give --shard; --shard 1/1 is the whole campaign", e.count))
		}
		i, errIndex := strconv.Atoi(index)
		n, errCount := strconv.Atoi(count)
		i += 1 - e.first
		if errIndex != nil || errCount != nil || i < 1 || i > n {
			return s, "", usage(fmt.Errorf("found %s=%s and %s=%s of %s, expected numbers, from %d on", e.index, index, e.count, count, e.name, e.first),
				"give --shard; --shard 1/1 is the whole campaign")
		}
		return scenario.Shard{Index: i, Count: n}, e.name, nil
	}
	return scenario.Shard{Index: 1, Count: 1}, "", nil
}
