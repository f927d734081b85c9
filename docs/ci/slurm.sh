#!/bin/sh
# A campaign as a job array: sbatch slurm.sh, and when all tasks are done: isr-sim merge shard-*.json
# Each task runs its shard. A task whose node dies is put back into the queue and begins its shard again.
#SBATCH --job-name=isr-sim
#SBATCH --array=0-7
#SBATCH --requeue
#SBATCH --output=shard-%a.log
exec isr-sim explore --schedules 160000 --out "shard-$SLURM_ARRAY_TASK_ID.json" paused-writer
