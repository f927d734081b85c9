// What isr-sim/vitest, isr-sim/jest and the setups share: where the command is, a test that is a check, and a fake for
// the tests of one file.
'use strict'
const { spawn } = require('node:child_process')
const { existsSync, readFileSync, readdirSync } = require('node:fs')
const path = require('node:path')
const { fileURLToPath } = require('node:url')

/** Where the command is: in ISR_SIM_BINARY, or in the package for this machine. */
function binary() {
  const said = process.env.ISR_SIM_BINARY
  if (said) return /[\\/]/.test(said) ? path.resolve(said) : said // tests run in other folders
  const name = `@isr-sim/${process.platform}-${process.arch}`
  try {
    return require.resolve(`${name}/isr-sim${process.platform === 'win32' ? '.exe' : ''}`)
  } catch {
    throw new Error(`isr-sim: found no package ${name}, which has the command for this machine\n` +
      'hint: install without --omit=optional, or say in ISR_SIM_BINARY where the command is')
  }
}

const quoted = (text) => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'` // for a shell

/** The flags of isr-sim check for options: maxAge is --max-age, true is a flag alone, and a list is a flag for each. */
function flags(options) {
  return Object.entries(options).flatMap(([name, value]) => {
    const flag = '--' + name.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase())
    if (value === undefined || value === false) return []
    if (value === true) return [flag]
    return [value].flat().flatMap((one) => [flag, String(one)])
  })
}

/** Runs isr-sim check for a test, and rejects with all that it says unless the cache is right. whole is the name of the
 * test after those of the groups that it is in. */
async function checked({ testPath, currentTestName: whole }, name, options, adapter) {
  if (typeof options !== 'object') {
    throw new TypeError(`isr-sim: ${name}: found the options ${options}, expected an object, ` +
      'such as { worlds: 50 }, and then the adapter')
  }
  const { exec, next, keep, timeout: allowed = timeout(options), ...rest } = options
  const folder = path.dirname(testPath)
  let command = exec
  if (command === undefined && next === undefined) {
    const file = /^file:/.test(String(adapter)) ? fileURLToPath(adapter) : path.resolve(folder, String(adapter))
    if (!existsSync(file)) {
      throw new Error(`isr-sim: ${name}: found no file ${file}, expected the program that is the node (docs/NODES.md)`)
    }
    const types = /\.[cm]?tsx?$/.test(file) && !process.features.typescript ? '--import tsx ' : ''
    command = `${quoted(process.execPath)} ${types}${quoted(file)}`
  }
  const { ISR_SIM_SEED: seed = rest.seed, ISR_SIM_WORLDS: worlds = rest.worlds } = process.env
  const kept = keep ??
    path.join('__isr_sim__', path.basename(testPath), (whole ?? name).replace(/[^\p{L}\p{N}_.-]+/gu, '-'))
  const child = spawn(binary(),
    ['check', ...flags({ exec: command, next, keep: kept, ...rest, seed, worlds })],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], timeout: allowed })
  const end = () => child.kill()
  process.once('exit', end) // a test that has ended early leaves nothing behind
  const story = [], diagnostics = []
  child.stdout.on('data', (part) => story.push(part))
  child.stderr.on('data', (part) => diagnostics.push(part))
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  process.off('exit', end)
  if (code === 0 && story.length === 0) {
    throw new Error(`isr-sim: ${name}: ${child.spawnfile} said nothing, expected what it has judged`)
  }
  if (code !== 0) {
    // What the nodes print is in the way of a violation, and may be the reason why there is no verdict.
    const told = Buffer.concat(code === 1 ? story : [...story, ...diagnostics])
    const failure = new Error(`isr-sim check, exit code ${code}, in ${folder}:\n${told}`)
    failure.stack = failure.message // the story is not in these frames
    if (/^violated: /m.test(told)) failure.kept = path.resolve(folder, kept) // a vacuous check leaves an earlier run
    throw failure
  }
  console.log(`${name}\n${Buffer.concat(story)}`) // how many worlds were judged, and what nothing tested
}

const types = { '.yaml': 'application/yaml', '.json': 'application/json', '.html': 'text/html' }

/** The files that a failed check has left: the scenario of the run, its record and its report. */
const left = ({ kept }) => !kept || !existsSync(kept) ? [] : readdirSync(kept).sort()
  .map((file) => ({ path: path.join(kept, file), contentType: types[path.extname(file)] }))
  .filter(({ contentType }) => contentType)

/** How long a test may take, in milliseconds. */
const timeout = (options) => options?.timeout ?? 600_000

/**
 * Starts a fake with the tables of isr-sim.config.json, and has AWS SDKs find it: {"serve": ["--clock", "manual"],
 * "tables": [...]}, each table as CreateTable has it. All may be left out. Its stop rejects where the exit code of the
 * server says that something is wrong: --check has found a violation, or judged nothing, or a request was held to the
 * end.
 */
async function startFake() {
  const file = path.resolve('isr-sim.config.json')
  const { serve = [], tables = [] } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const server = spawn(binary(), ['serve', ...serve], { stdio: ['ignore', 'pipe', 'pipe'] })
  const said = []
  server.stderr.on('data', (part) => { said.push(part); process.stderr.write(part) })
  const ended = new Promise((resolve) => server.on('close', resolve))
  process.once('exit', () => server.kill())
  const line = await new Promise((resolve, reject) => {
    let text = ''
    server.on('error', reject).on('exit', (code) => reject(new Error(`isr-sim serve ended with exit code ${code}`)))
    server.stdout.on('data', (part) => {
      text += part
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')))
    })
  })
  const fake = JSON.parse(line)
  Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: fake.endpoint, ISR_SIM_CONTROL: fake.control })
  const defaults = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'any' }
  for (const [variable, value] of Object.entries(defaults)) process.env[variable] ??= value
  const scope = `${process.env.AWS_ACCESS_KEY_ID}/20400101/${process.env.AWS_REGION}/dynamodb/aws4_request`
  for (const table of tables) {
    const answer = await fetch(fake.endpoint, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': 'DynamoDB_20120810.CreateTable',
        Authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`,
      },
      body: JSON.stringify({ BillingMode: 'PAY_PER_REQUEST', ...table }),
    })
    if (!answer.ok) throw new Error(`${file}: table ${table.TableName}: ${await answer.text()}`)
  }
  return { ...fake, stop }

  async function stop() {
    server.kill()
    const code = await ended // null on Windows, where a signal ends the server before it can judge
    if (code === 0 || code === null && !serve.some((flag) => /^--check(=|$)/.test(flag))) return
    const how = code === null ? 'ended without a verdict' : `exit code ${code}`
    const failure = new Error(`isr-sim serve ${serve.join(' ')}, ${how}:\n${Buffer.concat(said)}`)
    failure.stack = failure.message // the story is not in these frames
    throw failure
  }
}

module.exports = { binary, checked, flags, left, startFake, timeout }
