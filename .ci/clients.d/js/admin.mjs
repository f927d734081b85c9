// dynamodb-admin, as it is published, on isr-sim serve: the requests that its page sends from a browser. See
// ../../clients.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('node_modules/.bin/dynamodb-admin', import.meta.url))
const admin = spawn(process.execPath,
  [program, '--host', '127.0.0.1', '--port', '0', '--dynamo-endpoint', process.env.ENDPOINT],
  { stdio: ['ignore', 'pipe', 'inherit'], timeout: 60_000 })
process.on('exit', () => admin.kill())
let page
for await (const line of createInterface(admin.stdout)) if ((page = line.match(/listening on (http:\S+)/)?.[1])) break
admin.stdout.resume()

async function ask(method, path, body, want = 200) {
  const answer = await fetch(page + path, {
    method, body: body && JSON.stringify(body), headers: { 'Content-Type': 'application/json' },
    signal: AbortSignal.timeout(10_000),
  })
  const text = await answer.text()
  assert.equal(answer.status, want, `${method} ${path}: ${text}`)
  return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
}
const items = async (query = {}) =>
  (await ask('GET', `/tables/admin/items?${new URLSearchParams(query)}`)).Items.map((item) => item.sk)

const steps = {
  async 'creates a table'() {
    const key = { HashAttributeName: 'pk', HashAttributeType: 'S', RangeAttributeName: 'sk', RangeAttributeType: 'N' }
    const units = { ReadCapacityUnits: 3, WriteCapacityUnits: 3 }
    const index = {
      IndexName: 'by-name', IndexType: 'global', HashAttributeName: 'name', HashAttributeType: 'S', ...units,
    }
    const TableDefinition = { TableName: 'admin', ...key, ...units }
    await ask('POST', '/create-table', { TableDefinition, SecondaryIndexes: [index] }, 204)
  },
  async 'lists the tables'() {
    assert.match(await ask('GET', '/'), /tables\/admin/)
    const [table] = (await ask('GET', '/api/tables')).filter((table) => table.TableName === 'admin')
    assert.equal(table.TableStatus, 'ACTIVE')
  },
  async 'creates items, and shows them'() {
    for (const sk of [1, 2, 30]) {
      await ask('PUT', '/tables/admin/add-item', { pk: 'home', sk, name: `n${sk}`, tags: ['a', { b: null }] })
    }
    await ask('PUT', '/tables/admin/add-item', { pk: 'about', sk: 1, name: 'n1' })
    assert.match(await ask('GET', '/tables/admin/items/home,30'), /n30/)
    assert.match(await ask('GET', '/tables/admin/meta'), /by-name/)
    await ask('GET', '/tables/admin/items/home,31', undefined, 404)
  },
  async 'scans, and queries a table and an index'() {
    const filters = (of) => JSON.stringify(of)
    assert.equal((await items()).length, 4)
    const begins = { name: { operator: 'begins_with', value: 'n3', type: 'S' } }
    assert.deepEqual(await items({ filters: filters(begins) }), [30])
    const home = { pk: { operator: '=', value: 'home', type: 'S' }, sk: { operator: '>', value: '1', type: 'N' } }
    assert.deepEqual(await items({ operationType: 'query', filters: filters(home) }), [2, 30])
    const named = { name: { operator: '=', value: 'n1', type: 'S' } }
    const byName = { operationType: 'query', queryableSelection: 'by-name', filters: filters(named) }
    assert.deepEqual(await items(byName), [1, 1])
  },
  async 'edits an item'() {
    const edited = { pk: 'home', sk: 2, name: 'edited' }
    assert.deepEqual(await ask('PUT', '/tables/admin/items/home,2', edited), edited)
    assert.match(await ask('GET', '/tables/admin/items/home,2'), /edited/)
  },
  async 'deletes an item, all items and the table'() {
    await ask('DELETE', '/tables/admin/items/home,1', undefined, 204)
    assert.deepEqual((await items()).sort(), [1, 2, 30])
    await ask('DELETE', '/tables/admin/all')
    assert.deepEqual(await items(), [])
    await ask('DELETE', '/tables/admin', undefined, 204)
    assert.doesNotMatch(await ask('GET', '/'), /tables\/admin/)
  },
}
for (const [name, step] of Object.entries(steps)) {
  await step()
  console.log('dynamodb-admin:', name)
}
admin.kill()
