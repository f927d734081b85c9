// A page cache on DynamoDB, over the plain AWS SDK v3: one row META a page, one row LOCK while it is regenerated, and
// one transaction that publishes the page and gives the lock back.
import { createHash, randomUUID } from 'node:crypto'
import { DynamoDBClient, GetItemCommand, PutItemCommand, DeleteItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'

const now = () => Math.floor(Date.now() / 1000)
const sleep = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000))
const S = (s) => ({ S: s })
const N = (n) => ({ N: String(Math.ceil(n)) })

export class Cache {
  constructor({ client, table, tenant, config, bodies, origin }) {
    Object.assign(this, { db: new DynamoDBClient(client), table, tenant, config, bodies, origin })
  }

  async get(key) {
    for (let looks = 0; ; looks++) {
      const page = await this.read(key)
      if (page && now() < page.until) return this.serve(page)
      const token = await this.tryAcquireLease(key)
      if (token) {
        const made = await this.regenerate(key, token)
        if (made) return made
      } else if (page && (this.config.contention === 'serve-stale' || looks >= this.config.patience)) return this.serve(page)
      if (looks >= this.config.patience) throw new Error('gave up waiting for ' + key)
      if (!token) await sleep(this.config.poll)
    }
  }

  async regenerate(key, token) {
    const again = await this.read(key) // the holder before may have made it
    if (again && now() < again.until) {
      await this.release(key, token)
      return this.serve(again)
    }
    const at = now()
    const body = await this.origin(key)
    const page = { s3Key: `${key}/${token}`, until: at + this.config.revalidate }
    await this.bodies.put(page.s3Key, body)
    return (await this.commitGeneration(key, token, at, page)) ? this.serve(page, body) : undefined
  }

  async tryAcquireLease(key) {
    const token = randomUUID()
    const expires = Date.now() / 1000 + this.config.lease
    try {
      await this.db.send(new PutItemCommand({
        TableName: this.table, Item: { ...this.row(key, 'LOCK'), lease_token: S(token), lease_expires_at: N(expires), ttl: N(expires + this.config.ttlBuffer) },
        ConditionExpression: 'attribute_not_exists(pk) OR lease_expires_at <= :now', ExpressionAttributeValues: { ':now': N(now()) },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }))
      return token
    } catch (e) {
      if (e.name !== 'ConditionalCheckFailedException') throw e
      return e.Item?.lease_token?.S === token ? token : undefined // its own put, whose answer was lost
    }
  }

  async commitGeneration(key, token, at, page) {
    try {
      await this.db.send(new TransactWriteItemsCommand({ TransactItems: [
        { Put: { TableName: this.table, Item: { ...this.row(key, 'META'), s3_key: S(page.s3Key), generated_at: N(at),
          revalidate_seconds: N(this.config.revalidate), ttl: N(page.until + this.config.retention + this.config.ttlBuffer) } } },
        { Delete: { TableName: this.table, Key: this.row(key, 'LOCK'), ...this.own(token, ' AND lease_expires_at > :now', { ':now': N(now()) }) } },
      ] }))
      return true
    } catch (e) {
      if (e.name !== 'TransactionCanceledException') throw e
      return (await this.read(key))?.s3Key === page.s3Key // its own commit, whose answer was lost
    }
  }

  async release(key, token) {
    await this.db.send(new DeleteItemCommand({ TableName: this.table, Key: this.row(key, 'LOCK'), ...this.own(token) })).catch(() => {})
  }

  async read(key) {
    const { Item } = await this.db.send(new GetItemCommand({ TableName: this.table, Key: this.row(key, 'META'), ConsistentRead: true }))
    return Item && { s3Key: Item.s3_key.S, until: Number(Item.generated_at.N) + Number(Item.revalidate_seconds.N) }
  }

  async serve(page, made) {
    const body = made ?? (await this.bodies.get(page.s3Key)) // which takes time: fresh is judged after it
    return { body, fresh: now() < page.until }
  }

  own(token, more = '', values = {}) {
    return { ConditionExpression: 'lease_token = :token' + more, ExpressionAttributeValues: { ':token': S(token), ...values } }
  }
  row(key, sk) {
    const page = 'CACHE#' + createHash('sha256').update(key).digest('hex')
    return { pk: S(this.tenant ? `TENANT#${this.tenant}#${page}` : page), sk: S(sk) }
  }
}
