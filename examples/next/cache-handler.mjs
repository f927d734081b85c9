// A cacheHandler of Next.js 15 that several instances share, on DynamoDB: entries and tags are rows of one table.
import { BatchGetItemCommand, DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'

const db = new DynamoDBClient()
const table = process.env.CACHE_TABLE ?? 'next-cache'

export default class CacheHandler {
  began = new Map()

  async get(key, { kind, tags = [], softTags = [] }) {
    this.began.set(key, Date.now()) // if it is a miss, the data is read from now on
    const { Item: row } = await db.send(new GetItemCommand({
      TableName: table, Key: { id: { S: `entry#${key}` } }, ConsistentRead: true,
    }))
    if (!row) return null
    const value = JSON.parse(row.value.S, (_, v) => v?.type === 'Buffer' ? Buffer.from(v.data) : v)
    const lastModified = Number(row.at.N)
    const all = kind === 'FETCH' ? [...tags, ...softTags] : value.headers['x-next-cache-tags'].split(',')
    return await this.revalidated(all, lastModified) ? null : { value, lastModified }
  }

  async set(key, value) {
    // Not the time of now: a tag that was revalidated while the data was being read counts.
    const at = process.env.BUG === 'late' ? Date.now() : this.began.get(key) ?? Date.now()
    await put(`entry#${key}`, at, JSON.stringify(value))
  }

  async revalidateTag(tags) {
    await Promise.all([tags].flat().map((tag) => put(`tag#${tag}`, Date.now(), '')))
  }

  async revalidated(tags, since) {
    let asked = { [table]: { Keys: tags.map((tag) => ({ id: { S: `tag#${tag}` } })), ConsistentRead: true } }
    while (asked?.[table]) {
      const { Responses, UnprocessedKeys } = await db.send(new BatchGetItemCommand({ RequestItems: asked }))
      if (Responses[table].some(({ at }) => Number(at.N) > since)) return true
      asked = UnprocessedKeys
    }
    return false
  }

  resetRequestCache() {}
}

const put = (id, at, value) => db.send(new PutItemCommand({
  TableName: table, Item: { id: { S: id }, at: { N: String(at) }, value: { S: value } },
}))
