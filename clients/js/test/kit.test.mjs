// A simulator of one node: it tells the kit's process lines, and answers its requests one at a time when it is quiet.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import http from 'node:http'
import readline from 'node:readline'
import test from 'node:test'

const start = 1_000_000_000_000

async function run(get, commands = 1) {
  const parked = new Map()
  let quiet = null
  let time = start
  const steps = []
  const server = http.createServer((request, answer) => {
    const number = Number(request.headers['x-isr-sim-request'])
    parked.set(number, { request, answer })
    if (request.headers['x-isr-sim-quiet'] === '1') {
      assert.equal(quiet, null)
      quiet = { requests: [number] }
    }
    step()
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  const source = `import { node, origin, bodies } from '${new URL('../index.mjs', import.meta.url)}'
    import http from 'node:http'
    const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
    node((init) => ({ get: ${get} }), ['get'])`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'inherit'] })
  const tell = (line) => child.stdin.write(JSON.stringify({ time, ...line }) + '\n')
  function step() {
    if (quiet === null || quiet.requests.some((n) => !parked.has(n)) || parked.size !== quiet.requests.length) return
    const { requests, timer, after } = quiet
    quiet = null
    if (requests.length > 0) {
      const n = Math.max(...requests)
      const { request, answer } = parked.get(n)
      parked.delete(n)
      steps.push(`${request.method} ${request.url}`)
      time += 1000
      answer.setHeader('x-isr-sim-time', time)
      answer.end('of ' + request.url)
    } else {
      time += after
      steps.push(`timer after ${after}`)
      tell({ type: 'wake', timer })
    }
  }
  const replies = []
  await new Promise((done) => {
    readline.createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text)
      if (line.type === 'hello') {
        tell({ type: 'init', seed: 5, endpoint: `http://127.0.0.1:${server.address().port}`, credentials: {}, region: 'r' })
      } else if (line.type === 'quiet') {
        quiet = line
        step()
      } else {
        if (line.type === 'reply') replies.push(line.error ?? line.body)
        if (replies.length === commands) return tell({ type: 'end' })
        tell({ type: 'command', id: replies.length + 1, verb: 'get', key: '/home' })
      }
    })
    child.on('exit', done)
  })
  server.close()
  server.closeAllConnections()
  return { steps, replies }
}

test('requests of Promise.all are under way at once', async () => {
  const { steps, replies } = await run(`async () => ({ body: (await Promise.all(['a', 'b', 'c'].map(origin))).join() })`)
  assert.deepEqual(steps, ['c', 'b', 'a'].map((key) => 'GET /_isr-sim/origin?key=' + key)) // the last one first
  assert.deepEqual(replies, ['a', 'b', 'c'].map((key) => 'of /_isr-sim/origin?key=' + key).join().split('|'))
})

test('time moves by answers and timers alone', async () => {
  const { steps, replies } = await run(`async () => {
    const began = Date.now()
    await sleep(1500)
    await origin('a')
    return { body: [began, Date.now(), performance.now(), new Date().getTime()].join() }
  }`)
  assert.deepEqual(steps, ['timer after 1500', 'GET /_isr-sim/origin?key=a'])
  assert.deepEqual(replies, [[start, start + 2500, 2500, start + 2500].join()])
})

test('an interval fires until it is cleared', async () => {
  const { replies } = await run(`async () => {
    let beats = 0
    const beat = setInterval(() => { beats++ }, 300)
    await sleep(1000)
    clearInterval(beat)
    await sleep(1000)
    return { body: String(beats) }
  }`)
  assert.deepEqual(replies, ['3'])
})

test('immediates, digests and compression are waited for', async () => {
  const { steps } = await run(`async () => {
    const other = origin('a')
    for (let i = 0; i < 20; i++) await new Promise((done) => setImmediate(done))
    await crypto.subtle.digest('SHA-256', new Uint8Array(1e6))
    await Promise.all([other, origin('b')])
    return {}
  }`)
  assert.deepEqual(steps, ['GET /_isr-sim/origin?key=b', 'GET /_isr-sim/origin?key=a'])
})

test('fetch is a request, and randomness comes from the seed', async () => {
  const get = `async () => {
    const answer = await fetch(init.endpoint + '/x')
    return { body: await answer.text() + Math.random() + crypto.randomUUID() }
  }`
  const [one, two] = [await run(get), await run(get)]
  assert.deepEqual(one.steps, ['GET /x'])
  assert.deepEqual(one.replies, two.replies)
})

test('an error of the cache is its reply', async () => {
  const { replies } = await run(`async () => { throw new TypeError('no') }`)
  assert.deepEqual(replies, ['TypeError: no'])
})

test('the timers by which fetch watches its connections are none of the node', async () => {
  const { steps } = await run(`async () => {
    await (await fetch(init.endpoint + '/x')).text()
    await sleep(60_000)
    return {}
  }`, 2)
  assert.deepEqual(steps, ['GET /x', 'timer after 60000', 'GET /x', 'timer after 60000'])
})
