#!/usr/bin/env bash
# A campaign as an array job of AWS Batch, and one result: bash batch.sh QUEUE [SHARDS]. An array has 10,000 children at
# most. batch.json beside this file is the job definition: its image, its role and its file system (EFS, through an
# access point of user 65534) are yours to fill in. docs/CI.md says more.
set -euo pipefail
cd "$(dirname "$0")"
queue=$1 shards=${2:-8}

ended() { # ended JOB: waits, and prints how the job has ended
	local status
	while status=$(aws batch describe-jobs --jobs "$1" --query 'jobs[0].status' --output text); do
		case $status in SUCCEEDED | FAILED) echo "$status" && return ;; esac
		sleep 30
	done
}

definition=$(aws batch register-job-definition --cli-input-json file://batch.json \
	--query jobDefinitionArn --output text)
campaign=$(aws batch submit-job --job-name isr-sim --job-queue "$queue" --job-definition "$definition" \
	--array-properties "size=$shards" --query jobId --output text)
# An array with a finding has failed, and a job that depends on it would never run: so this one comes after it.
echo "campaign $campaign: $(ended "$campaign")"
merge=$(aws batch submit-job --job-name isr-sim-merge --job-queue "$queue" --job-definition "$definition" \
	--container-overrides '{"command": ["merge", "--out", "/results/", "/results"]}' --query jobId --output text)
status=$(ended "$merge")
echo "merge $merge: $status"
[ "$status" = SUCCEEDED ] # its log has the findings, and what is missing
