#!/bin/sh
# A campaign as a job array: sbatch slurm.sh, and when all tasks are done: isr-sim merge shards
# Each task runs its shard, which Slurm's variables name. A task whose node dies is put back into the queue, and goes on
# where its shard was saved last.
#SBATCH --job-name=isr-sim
#SBATCH --array=0-7
#SBATCH --requeue
#SBATCH --output=shard-%a.log
exec isr-sim explore --schedules 160000 --out shards/ paused-writer
