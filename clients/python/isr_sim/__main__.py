"""python -m isr_sim: the command."""

import subprocess
import sys

from isr_sim_pytest import binary

sys.exit(subprocess.call([binary(), *sys.argv[1:]]))
