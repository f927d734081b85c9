import assert from 'node:assert/strict'
import http from 'node:http'
import test from 'node:test'
import { history } from 'isr-sim/history'

async function serve(status, answer) {
  const got = []
  const server = http.createServer(async (request, response) => {
    const parts = []
    for await (const part of request) parts.push(part)
    const { method, url, headers: { 'content-type': type } } = request
    got.push({ method, url, type, body: JSON.parse(Buffer.concat(parts)) })
    response.writeHead(status).end(answer)
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  return { server, got, control: `http://127.0.0.1:${server.address().port}/_isr-sim` }
}

test('events are posted with their actor, in one request', async () => {
  const { server, got, control } = await serve(200, '{"events": 2, "violations": 0, "doubts": 0}')
  const found = await history(control, 'alice')({ kind: 'asked', key: '/home' }, { kind: 'crashed' })
  server.close()
  assert.deepEqual(found, { events: 2, violations: 0, doubts: 0 })
  const body = [{ kind: 'asked', key: '/home', actor: 'alice' }, { kind: 'crashed', actor: 'alice' }]
  assert.deepEqual(got, [{ method: 'POST', url: '/_isr-sim/history', type: 'application/json', body }])
})

test('what the server refuses is an error that says why', async () => {
  const { server, control } = await serve(400, 'event 1: there is no such kind of event')
  const why = /^Error: isr-sim: history: 400: event 1: there is no such kind/
  await assert.rejects(history(control, 'alice')({ kind: 'ask', key: '/home' }), why)
  server.close()
})

test('the clock stays as it is', async () => {
  assert.equal(Date.now.toString(), 'function now() { [native code] }')
})
