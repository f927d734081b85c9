// The cacheHandlers of Next.js 16 that several instances share, on DynamoDB. It is a port of the example of Next.js on
// Redis (examples/cache-handler-redis/remote-cache-handler.js). With BUG=own-tags it is as it was before
// vercel/next.js#98716: an entry's own tags are compared with nothing, so that updateTag does not reach it.
import { BatchGetItemCommand, DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'

const db = new DynamoDBClient()
const table = process.env.CACHE_TABLE ?? 'next-cache'

async function lastOf(tags) { // when one of them was revalidated
  let last = 0
  let asked = { [table]: { Keys: tags.map((tag) => ({ id: { S: `tag#${tag}` } })), ConsistentRead: true } }
  while (tags.length > 0 && asked?.[table]) {
    const { Responses, UnprocessedKeys } = await db.send(new BatchGetItemCommand({ RequestItems: asked }))
    last = Math.max(last, ...Responses[table].map(({ at }) => Number(at.N)))
    asked = UnprocessedKeys
  }
  return last
}

export default {
  async get(key) {
    const { Item: row } = await db.send(new GetItemCommand({
      TableName: table, Key: { id: { S: `entry#${key}` } }, ConsistentRead: true,
    }))
    if (!row) return undefined
    const { body, ...entry } = JSON.parse(row.entry.S)
    if (Date.now() > entry.timestamp + entry.expire * 1000) return undefined
    if (process.env.BUG !== 'own-tags' && await lastOf(entry.tags) > entry.timestamp) return undefined
    return { ...entry, value: new Blob([Buffer.from(body, 'base64')]).stream() }
  },

  async set(key, pending) {
    const { value, ...entry } = await pending
    const parts = []
    for await (const part of value) parts.push(part)
    const body = Buffer.concat(parts).toString('base64')
    await db.send(new PutItemCommand({
      TableName: table, Item: { id: { S: `entry#${key}` }, entry: { S: JSON.stringify({ ...entry, body }) } },
    }))
  },

  async refreshTags() {},

  getExpiration: lastOf,

  async updateTags(tags) {
    const at = { N: String(Date.now()) }
    await Promise.all(tags.map((tag) => db.send(new PutItemCommand({
      TableName: table, Item: { id: { S: `tag#${tag}` }, at },
    }))))
  },
}
