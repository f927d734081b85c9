// A fleet of four processes with an ISR cache against isr-sim serve --check, in real time: see docs/SERVE.md of
// isr-sim.
//
//     ENDPOINT=... CONTROL=... node --import tsx fleet.ts twice|once [PAGES]
//
// Each process posts what it sees. With twice the cache is correct: it reads META again once it has the lease. With
// once it renders a page that another process may have made in the meantime, as a public runtime does.
import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConditionalCheckFailedException, DynamoDB, type AttributeValue } from '@aws-sdk/client-dynamodb'
import { history } from 'isr-sim/history'

const { ENDPOINT = 'http://127.0.0.1:8000', CONTROL = ENDPOINT + '/_isr-sim' } = process.env
const { FLEET_ACTOR = 'seed', FLEET_START } = process.env
const [looks = 'twice', pages = '30'] = process.argv.slice(2)
const TableName = 'fleet'
const credentials = { accessKeyId: FLEET_ACTOR, secretAccessKey: 'any' }
const db = new DynamoDB({ endpoint: ENDPOINT, region: 'us-east-1', credentials })
const post = history(CONTROL, FLEET_ACTOR)

type Row = Record<string, AttributeValue>
const S = (text: string) => ({ S: text })
const N = (number: number) => ({ N: String(number) })
const now = () => Math.floor(Date.now() / 1000)
const row = (key: string, sk: 'META' | 'LOCK') =>
  ({ pk: S('CACHE#' + createHash('sha256').update(key).digest('hex')), sk: S(sk) })

const read = async (key: string): Promise<Row | undefined> =>
  (await db.getItem({ TableName, Key: row(key, 'META'), ConsistentRead: true })).Item
const fresh = (meta: Row): boolean => now() < Number(meta.generated_at?.N) + Number(meta.revalidate_seconds?.N)

const acquire = (key: string, token: string): Promise<boolean> => db.putItem({
  TableName, Item: { ...row(key, 'LOCK'), lease_token: S(token), lease_expires_at: N(now() + 31) },
  ConditionExpression: 'attribute_not_exists(pk) OR lease_expires_at <= :now',
  ExpressionAttributeValues: { ':now': N(now()) },
}).then(() => true, (e: unknown) => {
  if (e instanceof ConditionalCheckFailedException) return false
  throw e
})

const own = (key: string, token: string) => ({
  TableName, Key: row(key, 'LOCK'), ConditionExpression: 'lease_token = :token AND lease_expires_at > :now',
  ExpressionAttributeValues: { ':token': S(token), ':now': N(now()) },
})

async function regenerate(key: string, token: string): Promise<string> {
  const generated = now()
  await sleep(5) // the origin
  const html = `${key} by ${FLEET_ACTOR} ${token}`
  await post({ kind: 'rendered', key, body: html, revalidate: '60s' })
  const page = { html: S(html), generated_at: N(generated), revalidate_seconds: N(60) }
  await db.transactWriteItems({
    TransactItems: [{ Put: { TableName, Item: { ...row(key, 'META'), ...page } } }, { Delete: own(key, token) }],
  })
  return html
}

async function get(key: string): Promise<string> {
  for (;;) {
    let meta = await read(key)
    if (meta?.html?.S && fresh(meta)) return meta.html.S
    const token = randomUUID()
    if (!await acquire(key, token)) {
      await sleep(2)
      continue
    }
    if (looks === 'twice') meta = await read(key)
    if (!meta?.html?.S || !fresh(meta)) return await regenerate(key, token)
    await db.deleteItem(own(key, token))
    return meta.html.S
  }
}

async function worker(): Promise<void> {
  await read('/warm') // the connection
  for (let i = 0; i < Number(pages); i++) {
    const key = `/page/${i}`
    await sleep(Math.max(0, Number(FLEET_START) + 100 * i - Date.now()) + 2 * Math.random())
    await post({ kind: 'asked', key })
    const body = await get(key)
    await post({ kind: 'served', key, body, fresh: true })
  }
}

async function fleet(): Promise<void> {
  await db.createTable({
    TableName, BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'sk', AttributeType: 'S' }],
  })
  const start = String(Date.now() + 3000) // when all have started
  const codes = await Promise.all([1, 2, 3, 4].map(async (n) => {
    const env = { ...process.env, FLEET_ACTOR: `worker-${n}`, FLEET_START: start }
    const args = [...process.execArgv, ...process.argv.slice(1)]
    const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit', env }), 'exit')
    return code
  }))
  process.exitCode = codes.every((code) => code === 0) ? 0 : 1
}

await (FLEET_START === undefined ? fleet() : worker())
