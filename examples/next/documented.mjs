// The two examples of the documentation of cacheHandlers put together, "external storage" and "distributed tag
// coordination", with DynamoDB for Redis: vercel/next.js#95442. updateTags writes when a tag was revalidated,
// getExpiration is asked for soft tags alone, and get compares an entry's own tags with nothing. MENDED=1 does so.
import { DynamoDBClient, GetItemCommand, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb'

const db = new DynamoDBClient()
const timestamps = new Map() // of tags, in this process

export default {
  async get(cacheKey, softTags) {
    const { Item: row } = await db.send(new GetItemCommand({
      TableName: 'entries', Key: { cacheKey: { S: cacheKey } }, ConsistentRead: true,
    }))
    if (!row) return undefined
    const { value, ...entry } = JSON.parse(row.entry.S)
    if (Date.now() > entry.timestamp + entry.revalidate * 1000) return undefined
    if (process.env.MENDED && await this.getExpiration(entry.tags) > entry.timestamp) return undefined
    return { ...entry, value: new Blob([Buffer.from(value, 'base64')]).stream() }
  },

  async set(cacheKey, pendingEntry) {
    const { value, ...entry } = await pendingEntry
    const bytes = Buffer.from(await new Response(value).arrayBuffer())
    await db.send(new PutItemCommand({ TableName: 'entries', Item: {
      cacheKey: { S: cacheKey }, entry: { S: JSON.stringify({ ...entry, value: bytes.toString('base64') }) },
    } }))
  },

  async refreshTags() {
    for await (const { Items } of paginateScan({ client: db }, { TableName: 'tags', ConsistentRead: true })) {
      for (const { tag, at } of Items) timestamps.set(tag.S, Number(at.N))
    }
  },

  async getExpiration(tags) {
    return Math.max(0, ...tags.map((tag) => timestamps.get(tag) ?? 0))
  },

  async updateTags(tags) {
    const now = Date.now()
    for (const tag of tags) {
      await db.send(new PutItemCommand({ TableName: 'tags', Item: { tag: { S: tag }, at: { N: String(now) } } }))
      timestamps.set(tag, now)
    }
  },
}
