// A page cache on DynamoDB, over the plain AWS SDK v3. Each page has a META row, and a LOCK row while the page is
// regenerated. One transaction publishes the page and gives the lock back.
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ConditionalCheckFailedException, DynamoDB, TransactionCanceledException, type DynamoDBClientConfig,
} from '@aws-sdk/client-dynamodb'

export interface Config {
  lease: number, revalidate: number, retention: number, ttlBuffer: number, poll: number, patience: number,
  contention: string,
}
export interface Bodies {
  get(name: string): Promise<string | undefined>, put(name: string, body: string): Promise<void>,
}
export interface Options {
  client: DynamoDBClientConfig, table: string, tenant: string, config: Config, bodies: Bodies,
  origin(key: string): Promise<string>,
}
export interface Served { body: string | undefined, fresh: boolean }
interface Page { s3Key: string, at: number, until: number }

const now = () => Math.floor(Date.now() / 1000)
const S = (s: string) => ({ S: s })
const N = (n: number) => ({ N: String(Math.ceil(n)) })

export class Cache {
  readonly o: Options
  readonly db: DynamoDB
  constructor(o: Options) { [this.o, this.db] = [o, new DynamoDB(o.client)] }

  async get(key: string): Promise<Served> {
    const { contention, patience, poll } = this.o.config
    for (let looks = 0; ; looks++) {
      const page = await this.read(key)
      if (page && now() < page.until) return this.serve(page)
      const token = await this.tryAcquireLease(key)
      const made = token && await this.regenerate(key, token).catch((e: unknown) =>
        this.release(key, token).then(() => { throw e })) // nobody need wait for the lease's end
      if (made) return made
      if (!token && page && (contention === 'serve-stale' || looks >= patience)) return this.serve(page)
      if (looks >= patience) throw new Error('gave up waiting for ' + key)
      if (!token) await sleep(poll * 1000)
    }
  }

  async regenerate(key: string, token: string): Promise<Served | undefined> {
    const again = await this.read(key) // the holder before may have made it
    if (again && now() < again.until) return this.release(key, token).then(() => this.serve(again))
    const at = now()
    const body = await this.o.origin(key)
    const page = { s3Key: `${key}/${token}`, at, until: at + this.o.config.revalidate }
    await this.o.bodies.put(page.s3Key, body)
    return await this.commitGeneration(key, token, page) ? this.serve(page, body) : undefined
  }

  async tryAcquireLease(key: string): Promise<string | undefined> {
    const token = randomUUID()
    const expires = Date.now() / 1000 + this.o.config.lease
    const Item = {
      ...this.row(key, 'LOCK'), lease_token: S(token), lease_expires_at: N(expires),
      ttl: N(expires + this.o.config.ttlBuffer),
    }
    const free = {
      ConditionExpression: 'attribute_not_exists(pk) OR lease_expires_at <= :now',
      ExpressionAttributeValues: { ':now': N(now()) },
    }
    return this.db.putItem({
      TableName: this.o.table, Item, ...free, ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }).then(() => token, (e: unknown) => {
      if (!(e instanceof ConditionalCheckFailedException)) throw e
      return e.Item?.lease_token?.S === token ? token : undefined // its own put, whose answer was lost
    })
  }

  async commitGeneration(key: string, token: string, page: Page): Promise<boolean> {
    const ttl = N(page.until + this.o.config.retention + this.o.config.ttlBuffer)
    const Item = {
      ...this.row(key, 'META'), s3_key: S(page.s3Key), generated_at: N(page.at),
      revalidate_seconds: N(page.until - page.at), ttl,
    }
    const lock = this.own(key, token, ' AND lease_expires_at > :now', { ':now': N(now()) })
    return this.db.transactWriteItems({
      TransactItems: [{ Put: { TableName: this.o.table, Item } }, { Delete: lock }],
    }).then(() => true, async (e: unknown) => {
      if (!(e instanceof TransactionCanceledException)) throw e
      const own = (await this.read(key))?.s3Key === page.s3Key // its own commit, whose answer was lost
      if (!own) await this.release(key, token) // which it still has if the service refused for a reason of its own
      return own
    })
  }

  async release(key: string, token: string): Promise<void> {
    await this.db.deleteItem(this.own(key, token)).catch(() => {})
  }

  async read(key: string): Promise<Page | undefined> {
    const Key = this.row(key, 'META')
    const { Item } = await this.db.getItem({ TableName: this.o.table, Key, ConsistentRead: true })
    const at = Number(Item?.generated_at?.N)
    return Item?.s3_key?.S ? { s3Key: Item.s3_key.S, at, until: at + Number(Item.revalidate_seconds?.N) } : undefined
  }

  async serve(page: Page, made?: string): Promise<Served> {
    const body = made ?? await this.o.bodies.get(page.s3Key) // which takes time: fresh is judged after it
    return { body, fresh: now() < page.until }
  }

  own(key: string, token: string, more = '', values = {}) {
    return {
      TableName: this.o.table, Key: this.row(key, 'LOCK'), ConditionExpression: 'lease_token = :token' + more,
      ExpressionAttributeValues: { ':token': S(token), ...values },
    }
  }

  row(key: string, sk: 'META' | 'LOCK') {
    const page = 'CACHE#' + createHash('sha256').update(key).digest('hex')
    return { pk: S(this.o.tenant ? `TENANT#${this.o.tenant}#${page}` : page), sk: S(sk) }
  }
}
