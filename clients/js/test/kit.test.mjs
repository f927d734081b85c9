// A simulator of one node: it sends lines to the kit's process, and answers one of its requests each time that the
// process is quiet.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import dns from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import readline from 'node:readline'
import test from 'node:test'

const start = 1_000_000_000_000

// get is the source of the node's only method, and create is the source of the function that makes the cache. For a
// node with other methods, script has its commands, and more has the other arguments of node.
async function run(
  get, commands = 1, create = `(init) => ({ get: ${get} })`,
  script = Array(commands).fill({ verb: 'get', key: '/home' }), more = `['get']`,
) {
  const parked = new Map()
  let quiet = null
  let time = start
  const steps = []
  const server = http.createServer((request, answer) => {
    const number = Number(request.headers['x-isr-sim-request'])
    arrives(number, request.headers['x-isr-sim-quiet'] === '1', `${request.method} ${request.url}`, (text) => {
      answer.setHeader('x-isr-sim-time', time)
      answer.end(text)
    })
  })
  function arrives(number, alone, what, reply) {
    parked.set(number, { what, reply })
    if (alone) {
      assert.equal(quiet, null)
      quiet = { requests: [number] }
    }
    step()
  }
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  const source = `import { node, origin, bodies, OtherPayload } from '${new URL('../index.mjs', import.meta.url)}'
    import crypto from 'node:crypto'
    import http from 'node:http'
    import { spawn } from 'node:child_process'
    import promises from 'node:timers/promises'
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1) // nothing to report: no life has begun
    const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
    node(${create}, ${more})`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'inherit'] })
  const tell = (line) => child.stdin.write(JSON.stringify({ time, ...line }) + '\n')
  function step() {
    if (quiet === null || quiet.requests.some((n) => !parked.has(n)) || parked.size !== quiet.requests.length) return
    const { requests, timer, after, also } = quiet
    besides.push(also?.length ?? 0)
    quiet = null
    if (requests.length > 0) {
      const n = Math.max(...requests)
      const { what, reply } = parked.get(n)
      parked.delete(n)
      steps.push(what)
      time += 1000
      reply('of ' + what.split(' ')[1])
    } else {
      time += after
      steps.push(`timer after ${after}`)
      tell({ type: 'wake', timer })
    }
  }
  const replies = []
  const real = []
  const lines = []
  const fresh = []
  const besides = [] // how many timers may fire in the place of the first one, by step
  let begun = 0 // how many steps there were before the node was ready
  await new Promise((done) => {
    readline.createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text)
      if (line.type === 'hello') {
        lines.push(line)
        const endpoint = `http://127.0.0.1:${server.address().port}`
        const config = { attempts: 1 }
        tell({ type: 'init', actor: 'carol.2', seed: 5, endpoint, credentials: {}, region: 'r', config })
      } else if (line.type === 'quiet') {
        quiet = line
        step()
      } else if (line.type === 'request') {
        const { number } = line
        arrives(number, line.quiet, `${line.method} ${line.target}`,
          (text) => tell({ type: 'answer', number, status: text === 'of /broken' ? 0 : 200, headers: {}, text }))
      } else if (line.type === 'left') {
        parked.delete(line.number)
      } else if (line.type === 'real') {
        real.push(line.what)
      } else {
        if (line.type === 'ready') begun = steps.length
        if (line.type === 'reply') {
          replies.push(line.error ?? line.body)
          lines.push(line)
          fresh.push(line.fresh)
        }
        if (replies.length === script.length) return tell({ type: 'end' })
        tell({ type: 'command', id: replies.length + 1, ...script[replies.length] })
      }
    })
    child.on('exit', done)
  })
  server.close()
  server.closeAllConnections()
  return { steps, replies, fresh, begun, lines, real, besides }
}

test('a module that awaits a timer is told why it ends', async () => {
  const kit = new URL('../index.mjs', import.meta.url)
  const source = `import '${kit}'; await new Promise((done) => setTimeout(done, 5))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source])
  let said = ''
  child.stderr.on('data', (part) => { said += part })
  assert.equal(await new Promise((done) => child.on('close', done)), 13)
  assert.match(said, /^isr-sim: a module awaits a timer while it is imported/m)
})

test('a mistake in what a cache returns ends its process, and is told', async () => {
  const kit = new URL('../index.mjs', import.meta.url)
  const common = { endpoint: 'http://127.0.0.1:1', credentials: {}, region: 'r', config: {}, time: start }
  for (const [returned, want] of [
    ["{ html: 'a', fresh: true }", /^isr-sim: get returned { html, fresh }, expected { body, fresh }: /m],
    ["'a page'", /^isr-sim: get returned a string, expected { body, fresh }: /m],
    ['{ body: 7, fresh: true }', /^isr-sim: get returned a body that is a number, expected text$/m],
  ]) {
    const source = `import { node } from '${kit}'\nnode(() => ({ get: async () => (${returned}) }), ['get'])`
    const child = spawn(process.execPath, ['--input-type=module', '-e', source])
    let said = ''
    child.stderr.on('data', (part) => { said += part })
    child.stdin.write(JSON.stringify({ type: 'init', actor: 'a', seed: 1, ...common }) + '\n')
    child.stdin.write(JSON.stringify({ type: 'command', id: 1, verb: 'get', key: '/home', time: start }) + '\n')
    assert.equal(await new Promise((done) => child.on('close', done)), 1)
    assert.match(said, want)
  }
})

test('a timer is set after work that the kit does not know of', async () => {
  const made = `new Promise((done) => crypto.generateKeyPair('rsa', { modulusLength: 2048 }, done))`
  const { steps } = await run(`async () => { await ${made}; await sleep(5); return { body: '', fresh: false } }`)
  assert.deepEqual(steps, ['timer after 5'])
})

test('requests of Promise.all are under way at once', async () => {
  const { steps, replies } = await run(
    `async () => ({ body: (await Promise.all(['a', 'b', 'c'].map(origin))).join() })`)
  assert.deepEqual(steps, ['c', 'b', 'a'].map((key) => 'GET /_isr-sim/origin?key=' + key)) // the last one first
  assert.deepEqual(replies, ['a', 'b', 'c'].map((key) => 'of /_isr-sim/origin?key=' + key).join().split('|'))
})

test('a scenario says how often an SDK sends a request', async () => {
  const { replies } = await run('async () => ({ body: process.env.AWS_MAX_ATTEMPTS })')
  assert.deepEqual(replies, ['1'])
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

test('any of the timers that are due at once may be the first, but those of one length keep their order', async () => {
  const { steps, besides } = await run(`async () => {
    const twice = sleep(1000).then(() => sleep(1000))
    await Promise.all([twice, sleep(2000), sleep(2000), sleep(3000)])
    return { body: '' }
  }`)
  assert.deepEqual(steps,
    ['timer after 1000', 'timer after 1000', 'timer after 0', 'timer after 0', 'timer after 1000'])
  assert.deepEqual(besides, [0, 1, 1, 0, 0])
})

test('a timer that is set before the first life is one of each life', async () => {
  const set = 'setTimeout(() => { globalThis.fired = true }, 500), clearTimeout(setTimeout(() => {}, 1))'
  const { steps, replies } = await run('', 1, `(${set}, (init) => ({
    async get() { await sleep(1000); return { body: String(globalThis.fired) } },
  }))`)
  assert.deepEqual([steps, replies], [['timer after 500', 'timer after 500'], ['true']])
})

test('uuid keeps no random bytes for the next life', async () => {
  const drawn = (source) => run(`async () => {
    const [{ default: vm }, { default: crypto }] = await Promise.all([import('node:vm'), import('node:crypto')])
    const drawn = vm.runInThisContext('(crypto) => ${source}', { filename: '/node_modules/uuid/dist/rng.js' })
    return { body: String(drawn(crypto)) }
  }`)
  const pool = await drawn('crypto.randomFillSync(new Uint8Array(256)).slice(0, 16)')
  const plain = await drawn('[...crypto.randomBytes(16)]')
  assert.deepEqual(pool.replies, plain.replies)
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

test('no randomness is real, however it is drawn', async () => {
  const drawn = async () => JSON.parse((await run(`async () => {
    const { promisify } = await import('node:util')
    const crypto = await import('node:crypto')
    const hex = (a) => Buffer.from(a.buffer ?? a, a.byteOffset ?? 0, a.byteLength).toString('hex')
    const draws = {
      random: Math.random(), uuid: crypto.randomUUID(), web: globalThis.crypto.randomUUID(),
      bytes: hex(crypto.randomBytes(4)), later: hex(await promisify(crypto.randomBytes)(4)),
      old: hex(crypto.default.pseudoRandomBytes(4)), rng: hex(crypto.default.rng(4)),
      values: hex(crypto.getRandomValues(new Uint32Array(1))),
      webValues: hex(globalThis.crypto.getRandomValues(new Uint8Array(4))),
      fill: hex(await promisify(crypto.randomFill)(new Uint8Array(4))),
      buffer: hex(crypto.randomFillSync(new ArrayBuffer(4))),
      part: hex(crypto.randomFillSync(new Uint16Array(4), 1, 2)),
      int: crypto.randomInt(2 ** 40), between: crypto.randomInt(2 ** 40, 2 ** 41),
      laterInt: await new Promise((done) => crypto.randomInt(2 ** 40, (_, n) => done(n))),
    }
    return { body: JSON.stringify(draws) }
  }`)).replies[0])
  const once = await drawn()
  assert.deepEqual(await drawn(), once)
  assert.equal(new Set(Object.values(once)).size, Object.keys(once).length)
  assert.match(once.part, /^0{4}[0-9a-f]{8}0{4}$/)
  assert.ok(once.between >= 2 ** 40 && once.between < 2 ** 41 && once.int < 2 ** 40)
})

test('the heart of a lock beats while it is held', async () => {
  const job = (verb, more) => ({ verb, key: 'job', ...more })
  const { steps, lines } = await run('', 0, `(init) => ({
    async hold(key) {
      await origin(key)
      let beats = 0
      const heart = setInterval(() => { beats++ }, 1000)
      const release = () => { clearInterval(heart); throw new Error(beats + ' beats') }
      return { token: 7n, held: () => beats === 2, release }
    },
  })`, [job('hold'), job('held'), job('work', { for: 2.5 }), job('held'), job('extend'), job('release')],
  `['hold', 'held'], { heartbeats: true }`)
  assert.deepEqual(steps, ['GET /_isr-sim/origin?key=job', 'timer after 1000', 'timer after 1000', 'timer after 500'])
  const [hello, ...replies] = lines
  assert.deepEqual([hello.can.slice(0, 3), hello.lock], [['hold', 'held', 'work'], { heartbeats: true }])
  assert.deepEqual(replies.map(({ type, id, ...said }) => said), [
    { token: 7, later: true }, { held: false, later: true }, { later: true }, { held: true, later: true },
    { error: 'Error: skipped: what hold returned has no method extend, which can says that it has', later: true },
    { error: 'Error: 2 beats' },
  ])
})

test('a token that is no whole number is told as it is, for isr-sim to refuse', async () => {
  const tokens = {
    '7n': 7, "'8'": 8, null: undefined, "'abc'": 'abc, a string', "''": ', a string', 7.5: '7.5, a number',
    NaN: 'NaN, a number', true: 'true, a boolean', '2n ** 64n': '18446744073709551616, a bigint',
  }
  const { lines } = await run('', 0, `(init) => ({
    async hold(i) { return { token: [${Object.keys(tokens)}][i], release() {} } },
  })`, Object.keys(tokens).map((_, i) => ({ verb: 'hold', key: String(i) })), `['hold']`)
  // integers come first among the keys of an object
  assert.deepEqual(lines.slice(1).map(({ token }) => token), Object.values(tokens))
})

test('a call asks for its effect, and says why it was refused', async () => {
  const { steps, lines } = await run('', 0, `(init) => ({
    async once(key, payload, effect) {
      if (payload === 'b') throw new OtherPayload('of a')
      return key + await effect()
    },
  })`, ['a', 'b'].map((payload) => ({ verb: 'once', key: 'order-7', payload })), `['once'], { payload: true }`)
  assert.deepEqual(steps, ['POST /_isr-sim/effect'])
  const [hello, ...replies] = lines
  assert.deepEqual(hello.once, { payload: true })
  assert.deepEqual(replies.map(({ type, id, ...said }) => said),
    [{ body: 'order-7of /_isr-sim/effect' }, { error: 'OtherPayload: of a', other: true }])
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

test('each actor is a host, and each life a process with a number', async () => {
  const { replies } = await run("async () => ({ body: [(await import('node:os')).hostname(), process.pid].join() })")
  assert.deepEqual(replies, [`carol,${2 ** 22 + 6}`])
})

test('all dates are of one class', async () => {
  const { replies } = await run(`async () => {
    class Later extends Date {}
    const date = new Date()
    const later = new Later()
    return { body: [
      structuredClone(date) instanceof Date, date.constructor === Date, later instanceof Later, date instanceof Later,
      later.getTime(),
    ].join() }
  }`)
  assert.deepEqual(replies, [`true,true,true,false,${start}`])
})

test('each life may be a process of its own', async () => {
  for (const [options, resets] of [['{}', true], ['{ newProcess: true }', false]]) {
    const { lines } = await run('async () => ({})', 1, undefined, undefined, `['get'], undefined, ${options}`)
    assert.equal(lines[0].can.includes('reset'), resets)
  }
})

test('a frozen node hears no answer after its reply, and then a broken connection', async () => {
  const create = `() => {
    let heard
    return { async get() {
      if (heard !== undefined) return { body: await origin('a') && heard }
      bodies.put('b', '').then(() => { heard = 'stored' }, (e) => { heard = e.code })
      return { body: heard = 'nothing' }
    } }
  }`
  for (const [frozen, heard, first] of [[false, 'stored', ['PUT /_isr-sim/bodies/b']], [true, 'ECONNRESET', []]]) {
    const { replies, steps } = await run('', 2, create, undefined, `['get'], undefined, { frozen: ${frozen} }`)
    assert.deepEqual(replies, ['nothing', heard])
    assert.deepEqual(steps, [...first, 'GET /_isr-sim/origin?key=a'])
  }
})

test('the host has an address', async () => {
  const { replies } = await run(`async () => {
    const [os, dns, { promisify }] = [await import('node:os'), await import('node:dns'), await import('node:util')]
    const promises = await import('node:dns/promises')
    const of = (name) => Promise.all([promisify(dns.lookup), dns.promises.lookup, promises.lookup].map((f) => f(name)))
    return { body: JSON.stringify(await of(os.hostname())) }
  }`)
  const at = await dns.lookup(os.hostname())
  assert.deepEqual(replies, [JSON.stringify([at, at, at])])
})

// Every clock of docs/NODES.md that the kit replaces, at the beginning and when 2.5 s have passed.
test('no clock is real', async () => {
  const { replies } = await run(`async () => {
    const clocks = () => [
      Date.now(), new Date().getTime(), Date.parse(Date()), new Date().toISOString(),
      Date.parse(new Intl.DateTimeFormat('sv',
        { dateStyle: 'short', timeStyle: 'medium', timeZone: 'UTC' }).format() + 'Z'),
      new Intl.DateTimeFormat('en', { year: 'numeric', timeZone: 'UTC' }).formatToParts()[0].value,
      performance.now(), performance.timeOrigin, performance.mark('x').startTime,
      process.hrtime().join('.'), Number(process.hrtime.bigint()), process.uptime(),
    ]
    const began = process.hrtime()
    const before = clocks()
    await origin('a')
    await sleep(1500)
    return { body: JSON.stringify([before, clocks(), process.hrtime(began)]) }
  }`)
  const at = (after) => [
    start + after, start + after, start + Math.floor(after / 1000) * 1000, new Date(start + after).toISOString(),
    start + Math.floor(after / 1000) * 1000, '2001',
    after, start, after, `${Math.floor(after / 1000)}.${(after % 1000) * 1e6}`, after * 1e6, after / 1000,
  ]
  assert.deepEqual(JSON.parse(replies[0]), [at(0), at(2500), [2, 500_000_000]])
})

test('every timer is simulated', async () => {
  const { steps, replies } = await run(`async () => {
    const signal = AbortSignal.timeout(1000)
    let beats = 0
    for await (const beat of promises.setInterval(300, 'beat')) if (++beats === 2) break
    const late = await promises.setTimeout(9000, 'late', { signal }).catch((e) => e.name + ' of ' + e.cause.name)
    await promises.scheduler.wait(500)
    return { body: [beats, late, signal.reason.name, performance.now()].join() }
  }`)
  assert.deepEqual(steps, ['timer after 300', 'timer after 300', 'timer after 400', 'timer after 500'])
  assert.deepEqual(replies, ['2,AbortError of TimeoutError,TimeoutError,1500'])
})

test('a reply waits for requests that nobody awaits, and so does ready', async () => {
  const { steps, replies } = await run(`async () => {
    origin('heartbeat').then(() => origin('and more'))
    return { body: 'done', fresh: true }
  }`, 2)
  assert.deepEqual(steps,
    ['heartbeat', 'and%20more', 'heartbeat', 'and%20more'].map((key) => 'GET /_isr-sim/origin?key=' + key))
  assert.deepEqual(replies, ['done', 'done'])
  const begun = await run('', 1,
    `() => { const made = origin('a'); return { get: async () => ({ body: await made }) } }`)
  assert.deepEqual(begun.steps, ['GET /_isr-sim/origin?key=a'])
  assert.equal(begun.begun, 1)
  assert.deepEqual(begun.replies, ['of /_isr-sim/origin?key=a'])
})

test('a reply says that something is left to do later, other than time limits', async () => {
  const get = `async () => {
    const n = globalThis.n = (globalThis.n ?? 0) + 1
    if (n === 1) AbortSignal.timeout(1000)
    if (n === 2) globalThis.beat = setInterval(() => {}, 5000)
    if (n === 3) clearInterval(globalThis.beat)
    if (n === 4) await fetch(init.endpoint, { signal: AbortSignal.any([AbortSignal.timeout(1000)]) })
    if (n === 5) throw setTimeout(() => {}, 1000)
    return {}
  }`
  const { lines } = await run(get, 5, `(init) => ({ get: ${get} })`)
  assert.deepEqual(lines.slice(1).map((l) => l.later), [undefined, true, undefined, undefined, true])
})

test('no timer fires while a thread of the process calculates', async () => {
  const { steps, replies } = await run(`async () => {
    const { scrypt, pbkdf2, hkdf } = await import('node:crypto')
    const beat = setInterval(() => {}, 1000)
    await new Promise((done) => scrypt('a', 'b', 64, { N: 32768, maxmem: 2 ** 27 }, done))
    await new Promise((done) => pbkdf2('a', 'b', 200_000, 64, 'sha512', done))
    await new Promise((done) => hkdf('sha512', 'key', 'salt', 'info', 64, done))
    clearInterval(beat)
    return { body: String(Date.now()) }
  }`)
  assert.deepEqual([steps, replies], [[], [String(start)]])
})

test('what is not simulated is said once', async () => {
  const { real } = await run(`async () => {
    const { Worker } = await import('node:worker_threads')
    await new Worker('', { eval: true }).terminate()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    await new Promise((done) => spawn('true').on('exit', done))
    return {}
  }`, 2)
  assert.deepEqual(real, ['what workers do', 'the time that Atomics.wait takes', 'what child processes do'])
  const own = await run(`async () => ({ body: await origin('a') + await (await fetch(init.endpoint + '/x')).text() })`)
  assert.deepEqual(own.real, [])
  for (const child of ["execSync('true')", "execFileSync('true', [])", "spawnSync('true', { shell: true })"]) {
    const { real } = await run(`async () => { (await import('node:child_process')).${child}; return {} }`)
    assert.deepEqual(real, ['what child processes do'])
  }
})

test('a connection to another host is not simulated, and that is said', async () => {
  const other = http.createServer((_, answer) => answer.end('other')).listen(0, '127.0.0.1')
  await new Promise((done) => other.once('listening', done))
  const at = `127.0.0.1:${other.address().port}`
  for (const ask of [
    `await (await fetch('http://${at}')).text()`,
    `await new Promise((done) => http.get('http://${at}', (r) => { r.resume(); done() }))`,
    `await new Promise(async (done) => {
      const s = (await import('node:net')).connect(${other.address().port}, '127.0.0.1', () => { s.destroy(); done() })
    })`,
  ]) {
    const { real } = await run(`async () => { ${ask}; return {} }`)
    assert.deepEqual(real, ['connections to others than isr-sim'], ask)
  }
  other.close()
  other.closeAllConnections()
})

test('what listens for a time limit is left to do later', async () => {
  for (const limit of ['AbortSignal.timeout(1000)', 'AbortSignal.any([AbortSignal.timeout(1000)])']) {
    const { lines } = await run(`async () => { ${limit}.addEventListener('abort', () => {}); return {} }`)
    assert.deepEqual(lines.slice(1).map((l) => l.later), [true])
  }
})

test('the timers of a cache fire while its client sleeps', async () => {
  const work = { verb: 'work', key: '', for: 2.5 }
  const { lines, steps } = await run(`async () => { setInterval(() => origin('a'), 2000); return {} }`, 2, undefined,
    [{ verb: 'get', key: '/home' }, work])
  assert.ok(lines[0].can.includes('work'))
  assert.deepEqual(steps, ['timer after 2000', 'GET /_isr-sim/origin?key=a', 'timer after 0'])
})

test('what was fresh before a reply waited is not said to be', async () => {
  const broken = "init.client.requestHandler.handle({ path: '/broken', headers: {} }).catch(() => {})"
  for (const asked of ["origin('a')", broken]) {
    const { fresh } = await run(`async () => {
      if (init.seen) ${asked}
      init.seen = true
      return { body: '', fresh: true }
    }`, 2)
    assert.deepEqual(fresh, [true, false], asked)
  }
})

test('what the cache prints is no line', async () => {
  const { replies } = await run(`async () => {
    console.log('a line'); console.info('another'); process.stdout.write('half a line')
    await new Promise((done) => spawn('echo', ['of a child'], { stdio: 'inherit' }).on('exit', done))
    const { execFileSync, execSync } = await import('node:child_process')
    execFileSync('echo', ['of another'], { stdio: 'inherit' })
    return { body: 'done' + execSync('echo .') }
  }`)
  assert.deepEqual(replies, ['done.\n'])
})

test('a method that the cache lacks is said to be skipped', async () => {
  const { replies } = await run('', 1, '() => ({})')
  assert.deepEqual(replies, ['Error: skipped: the cache has no method get, which can says that it has'])
})

test('a child does not outlive the life that has begun it', async () => {
  const { replies } = await run(`async () => {
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
    child.unref()
    return { body: String(child.pid) }
  }`)
  for (let i = 0; i < 100 && lives(Number(replies[0])); i++) await new Promise((done) => setTimeout(done, 20))
  assert.ok(!lives(Number(replies[0])))
})

function lives(pid) {
  try { return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')) } catch { return false }
}

test('a request of an SDK is a line, and can be let go', async () => {
  const sent = `(init, how) => init.client.requestHandler.handle(
    { method: 'GET', path: '/b/k', query: { a: "it's", n: null }, headers: {} }, how)`
  const { steps, replies } = await run('', 2, `(init) => {
    const sent = ${sent}
    let calls = 0
    return { get: async () => {
      if (calls++ > 0) {
        const { response } = await sent(init)
        const parts = []
        for await (const part of response.body) parts.push(part)
        return { body: response.statusCode + ' ' + Buffer.concat(parts) }
      }
      const stop = new AbortController()
      const asked = sent(init, { abortSignal: stop.signal })
      await origin('a')
      stop.abort()
      return asked.catch((e) => ({ body: e.name }))
    } }
  }`)
  assert.deepEqual(replies, ['AbortError', '200 of /b/k?a=it%27s&n'])
  assert.deepEqual(steps, ['GET /_isr-sim/origin?key=a', 'GET /b/k?a=it%27s&n'])
})

test('an SDK copies nothing for a log that nobody keeps', async () => {
  const { replies } = await run(`() => ({
    body: ['trace', 'debug', 'info', 'warn', 'error'].filter((of) => init.client.logger[of]).join(' ') })`)
  assert.deepEqual(replies, ['trace debug warn'])
})

test('a life may be told at once all that another one was told', { timeout: 30_000 }, async (t) => {
  const source = `import { node, origin } from '${new URL('../index.mjs', import.meta.url)}'
    node(() => ({ get: async () => {
      const both = await Promise.all([origin('a'), origin('b')])
      await new Promise((done) => setTimeout(done, 500))
      return { body: both + await origin('c') }
    } }), ['get'])`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => child.kill())
  const told = []
  const tell = (line) =>
    told.push(JSON.stringify({ time: start + told.length, ...line }) + '\n') && child.stdin.write(told.at(-1))
  const answer = (number) => tell({ type: 'answer', number, status: 200, headers: {}, text: 'of ' + number })
  const saidIn = [[], []] // the first life and the second
  let life = 0
  await new Promise((done) => {
    readline.createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text)
      if (line.type === 'hello') {
        const endpoint = 'http://127.0.0.1:1'
        return tell({ type: 'init', actor: 'carol', seed: 5, endpoint, credentials: {}, region: 'r' })
      }
      saidIn[life].push(text)
      if (line.type === 'reply' && ++life === 1) child.stdin.write(`{"type":"reset","time":${start}}\n${told.join('')}`)
      if (life === 2) child.stdin.write('{"type":"end"}\n')
      if (life > 0) return
      if (line.type === 'ready') tell({ type: 'command', id: 1, verb: 'get', key: '/home' })
      if (line.type === 'request' && line.quiet) answer(line.number)
      if (line.type === 'quiet') {
        line.requests.length > 0 ? answer(line.requests.at(-1)) : tell({ type: 'wake', timer: line.timer })
      }
    })
    child.on('exit', done)
  })
  assert.equal(saidIn[1].shift(), '{"type":"ready"}') // of the reset
  assert.deepEqual(saidIn[1], saidIn[0])
  assert.match(saidIn[0].at(-1), /of 1,of 2of 3/)
})
