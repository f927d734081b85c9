// Tests of check without the real command: the arguments that check passes, and the meaning of exit codes.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'node:test'
import core from '../check.cjs'

// A command that prints its arguments and a complaint, and ends with the code in ISR_SIM_ENDS.
const folder = mkdtempSync(path.join(tmpdir(), 'isr-sim-'))
const command = path.join(folder, 'isr-sim')
writeFileSync(command, '#!/bin/sh\nprintf "%s\\n" "$@"\necho complaint >&2\nexit "$ISR_SIM_ENDS"\n')
chmodSync(command, 0o755)
writeFileSync(path.join(folder, 'my node.mjs'), '')

const at = (currentTestName) => ({ testPath: path.join(folder, 'cache.test.mjs'), currentTestName })

const told = async (options, ends = '1', adapter = 'my node.mjs') => {
  process.env.ISR_SIM_BINARY = command
  process.env.ISR_SIM_ENDS = ends
  const failure = await core.checked(at('my cache'), 'my cache', options, adapter).then(() => null, (e) => e)
  return failure?.message
}

test('options are flags', () => {
  assert.deepEqual(
    core.flags({
      maxAge: '1h', tenants: true, monotonicAcrossNodes: false, without: ['freshness', 'liveness'], rows: undefined,
      worlds: 3,
    }),
    ['--max-age', '1h', '--tenants', '--without', 'freshness', '--without', 'liveness', '--worlds', '3'],
  )
})

test('a check that ends well is a test that passes, and says what it did', async (t) => {
  const log = t.mock.method(console, 'log', () => {})
  assert.equal(await told({ worlds: 3 }, '0'), undefined)
  assert.match(log.mock.calls[0].arguments[0], /^my cache\ncheck\n(.|\n)*--worlds\n3\n/)
})

test('a command that says nothing is no check, and one that takes too long ends with its test', async () => {
  process.env.ISR_SIM_BINARY = 'true'
  const said = (options) => core.checked(at('my cache'), 'my cache', options).catch((e) => e.message)
  assert.match(await said({ exec: 'x' }), /true said nothing/)
  const slow = path.join(folder, 'slow')
  writeFileSync(slow, '#!/bin/sh\nexec sleep 60\n')
  chmodSync(slow, 0o755)
  process.env.ISR_SIM_BINARY = path.relative('.', slow)
  const began = Date.now()
  assert.match(await said({ exec: 'x', timeout: 200 }), /exit code null/)
  assert.ok(Date.now() - began < 10_000)
})

test('a violation is told without what the nodes print, and all else with it', async () => {
  const node = `${process.execPath} '${path.join(folder, 'my node.mjs')}'`
  const flags = `--exec\n${node}\n--keep\n__isr_sim__/cache.test.mjs/my-cache\n--worlds\n3\n--seed\n7`
  assert.equal(await told({ worlds: 3, seed: 7 }), `isr-sim check, exit code 1, in ${folder}:\ncheck\n${flags}\n`)
  assert.match(await told({ next: 'cache-handler.mjs', rows: 'r' }, '1', undefined),
    /^check\n--next\ncache-handler\.mjs\n--keep\n.*\n--rows\nr\n$/m)
  assert.match(await told({ exec: 'python3 node.py', keep: 'kept' }, '3'),
    /^isr-sim check, exit code 3, in .*:\n(.|\n)*python3 node\.py\n--keep\nkept\n(.|\n)*complaint/s)
})

test('checks of one name have a folder each', async () => {
  process.env.ISR_SIM_BINARY = command
  const said = (whole) => core.checked(at(whole), 'my cache', { exec: 'x' }).catch((e) => e.message)
  const kept = async (whole) => (await said(whole)).match(/--keep\n(.*)/)[1]
  assert.equal(await kept('eu > my cache'), '__isr_sim__/cache.test.mjs/eu-my-cache')
  assert.notEqual(await kept('кэш'), await kept('锁'))
})

test('a night says how much', async () => {
  process.env.ISR_SIM_WORLDS = '500'
  assert.match(await told({ worlds: 3 }), /--worlds\n500\n/)
  delete process.env.ISR_SIM_WORLDS
})

test('a fake that has a complaint at its end fails the file of its tests', async () => {
  const server = path.join(folder, 'server')
  writeFileSync(server, '#!/bin/sh\ntrap \'echo violated: stale-writer >&2; exit "$ISR_SIM_ENDS"\' TERM\n' +
    'echo \'{"endpoint":"http://127.0.0.1:1","control":""}\'\nwhile :; do sleep 0.1; done\n')
  chmodSync(server, 0o755)
  process.env.ISR_SIM_BINARY = server
  const violated = /^isr-sim serve .*exit code 1:\nviolated: stale-writer\n$/
  for (const [ends, complaint] of [['0', undefined], ['1', violated], ['3', /exit code 3:/]]) {
    process.env.ISR_SIM_ENDS = ends
    const fake = await core.startFake()
    const failure = await fake.stop().then(() => undefined, (e) => e)
    if (complaint === undefined) assert.equal(failure, undefined)
    else assert.match(failure.message, complaint)
  }
})

test('what is not there is named', async () => {
  const nowhere = /^isr-sim: my cache: found no file .*nowhere\.mjs, expected the program that is the node/
  assert.match(await told({}, '0', 'nowhere.mjs'), nowhere)
  assert.match(await told('my node.mjs'), /^isr-sim: my cache: found the options my node.mjs, expected an object/)
  delete process.env.ISR_SIM_BINARY
  assert.throws(core.binary, /found no package @isr-sim\/\w+-\w+, .*\nhint: .*ISR_SIM_BINARY/)
})

test('the files that a failed check has left are named with their types, for reporters', async () => {
  const kept = path.join(folder, 'left')
  mkdirSync(kept)
  for (const file of ['failed.yaml', 'failed.html', 'other']) writeFileSync(path.join(kept, file), '')
  process.env.ISR_SIM_BINARY = command
  process.env.ISR_SIM_ENDS = '1'
  for (const [says, files] of [['violated: x', ['failed.html', 'failed.yaml']], ['vacuous: x', []]]) {
    const failure = await core.checked(at('my cache'), 'my cache', { exec: says, keep: 'left' }).catch((e) => e)
    assert.deepEqual(core.left(failure).map((file) => path.basename(file.path)), files)
  }
})
