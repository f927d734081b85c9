#!/usr/bin/env node
// The command isr-sim, of the package for this machine.
'use strict'
const { spawn } = require('node:child_process')
const { constants } = require('node:os')
const { binary } = require('./check.cjs')

let command
try {
  command = binary()
} catch (failure) {
  console.error(failure.message)
  process.exit(3)
}
const child = spawn(command, process.argv.slice(2), { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (failure) => {
  console.error(`isr-sim: ${command}: ${failure.message}`)
  process.exit(3)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
