// Package jobs tells which copy of a job this process is, if the engine that started the job numbers its copies, as
// Kubernetes and CI services do.
package jobs

import (
	"fmt"
	"strconv"
)

// shardCount is the variable with the number of shards, for engines that give only the number of this copy.
const shardCount = "ISR_SIM_SHARDS"

// giveShard is the hint of most mistakes.
const giveShard = "\nhint: give --shard; --shard 1/1 is the whole campaign"

// engine is a program that starts several copies of one job, with the variables by which it tells them apart.
type engine struct {
	name         string
	index, count string // its variables
	first        int    // the first index
	only         string // another variable that must be set
	// An array may begin with any index, and go on in steps. These variables, if there are any, have the limits and the
	// step.
	from, to, step string
}

// engines are the engines whose variables are read. The first match counts.
var engines = []engine{
	// Source: https://kubernetes.io/docs/tasks/job/indexed-parallel-processing-static/. The number of completions is in
	// no variable.
	{name: "a Kubernetes Indexed Job", index: "JOB_COMPLETION_INDEX", count: shardCount},
	// Source: https://docs.gitlab.com/ci/variables/predefined_variables/. Other engines that set these count from 0.
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
	// Source: https://slurm.schedmd.com/job_array.html. If the indices are not such a range, their number differs from
	// it.
	{
		name: "Slurm", index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT",
		from: "SLURM_ARRAY_TASK_MIN", to: "SLURM_ARRAY_TASK_MAX", step: "SLURM_ARRAY_TASK_STEP",
	},
	// Source: https://gridscheduler.sourceforge.net/htmlman/htmlman1/qsub.html. Outside of arrays all are "undefined".
	{name: "Grid Engine", index: "SGE_TASK_ID", count: "SGE_TASK_LAST", from: "SGE_TASK_FIRST", to: "SGE_TASK_LAST",
		step: "SGE_TASK_STEPSIZE"},
	// Source: https://www.gnu.org/software/parallel/man.html. The number of jobs is in no variable.
	{name: "GNU parallel", index: "PARALLEL_SEQ", count: shardCount, first: 1},
}

// Copy is one of the copies of a job.
type Copy struct {
	Index, Count int    // the Index-th of Count, from 1
	Engine       string // the engine that numbered the copies
}

// Find returns the copy that this process is, according to its environment; the zero Copy if no engine tells. An error
// ends in a hint for the user of --shard.
func Find(getenv func(string) string) (Copy, error) {
	for _, e := range engines {
		index, count := getenv(e.index), getenv(e.count)
		if index == "" || index == "undefined" || e.only != "" && getenv(e.only) == "" {
			continue
		}
		if e.from != "" {
			return e.ofArray(index, getenv)
		}
		if count == "" {
			return Copy{},
				fmt.Errorf("found %s=%s of %s, but not in how many shards the campaign is split: %s is not set\n"+
					"hint: set %s, or give --shard; --shard 1/1 is the whole campaign", e.index, index, e.name, e.count,
					e.count)
		}
		i, errIndex := strconv.Atoi(index)
		n, errCount := strconv.Atoi(count)
		i += 1 - e.first
		if errIndex != nil || errCount != nil || i < 1 || i > n {
			return Copy{}, fmt.Errorf("found %s=%s and %s=%s of %s, expected numbers, from %d on"+giveShard, e.index,
				index, e.count, count, e.name, e.first)
		}
		return Copy{i, n, e.name}, nil
	}
	return Copy{}, nil
}

// ofArray finds the copy of an array that begins with any index, and goes on in steps.
func (e engine) ofArray(index string, getenv func(string) string) (Copy, error) {
	numbers := make([]int, 0, 4)
	for _, text := range []string{index, getenv(e.from), getenv(e.to), getenv(e.step)} {
		n, err := strconv.Atoi(text)
		if err != nil {
			return Copy{}, fmt.Errorf("found %s=%s, %s=%s, %s=%s and %s=%s of %s, expected numbers"+giveShard,
				e.index, index, e.from, getenv(e.from), e.to, getenv(e.to), e.step, getenv(e.step), e.name)
		}
		numbers = append(numbers, n)
	}
	i, from, to, step := numbers[0], numbers[1], numbers[2], max(numbers[3], 1)
	n := (to-from)/step + 1
	if (i-from)%step != 0 || i < from || i > to || e.count != e.to && getenv(e.count) != strconv.Itoa(n) {
		return Copy{}, fmt.Errorf("found %s=%d of an array from %d to %d by %d of %s, expected one of its indices, "+
			"and all of them in the array"+giveShard, e.index, i, from, to, step, e.name)
	}
	return Copy{(i-from)/step + 1, n, e.name}, nil
}

// Variables returns the names of the variables for the number of this copy and for their count, engine by engine.
func Variables() []string {
	var names []string
	for _, e := range engines {
		names = append(names, e.index, e.count)
	}
	return names
}
