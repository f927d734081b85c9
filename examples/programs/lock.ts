// A lock on DynamoDB, over the plain AWS SDK v3: one row a lock, which stays when the lock is given back, because its
// fencing token grows with each holder. BUG breaks it in the ways that teams do.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConditionalCheckFailedException, DynamoDB, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'

export interface Options { client: DynamoDBClientConfig, table: string, config: { lease: number } }
export interface Held { token: number, release(): Promise<void>, held(): Promise<boolean>, extend(): Promise<void> }

const bug = process.env.BUG
const S = (s: string) => ({ S: s })
const N = (n: number) => ({ N: String(n) })

export class Lock {
  readonly o: Options
  readonly db: DynamoDB
  readonly beats: boolean
  constructor(o: Options, beats = false) { [this.o, this.db, this.beats] = [o, new DynamoDB(o.client), beats] }

  async hold(name: string): Promise<Held> {
    const me = randomUUID()
    const token = await this.take(name, me)
    const extend = () => this.extend(name, me).catch(() => {})
    const beat = this.beats ? setInterval(extend, this.o.config.lease * 1000 / 3) : undefined
    return {
      token,
      release: async () => { clearInterval(beat); await this.release(name, me) },
      held: async () => bug === 'held' || (await this.read(name, me)),
      extend: () => this.extend(name, me),
    }
  }

  async take(name: string, me: string): Promise<number> {
    let free = 'attribute_not_exists(holder) OR expires <= :now'
    let now = Date.now()
    switch (bug) {
      case 'unconditional': free = 'attribute_not_exists(nothing) OR expires <= :now'; break
      case 'early': now += 2000; break // "they must be done by then"
      case 'never': free = 'attribute_not_exists(holder) OR expires < :now AND attribute_exists(nothing)'; break
      case 'waits': await sleep(3000); now = Date.now(); break
    }
    const token = bug === 'same-token' ? 'SET fence = :one' : 'ADD fence :one'
    const { Attributes } = await this.db.updateItem({
      ...this.row(name), ConditionExpression: free, ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD', UpdateExpression: token.startsWith('SET')
        ? token + ', holder = :me, expires = :end' : 'SET holder = :me, expires = :end ' + token,
      ExpressionAttributeValues: { ':me': S(me), ':now': N(now), ':end': this.end(), ':one': N(1) },
    }).catch((e: unknown) => {
      // Its own update, whose answer was lost.
      if (e instanceof ConditionalCheckFailedException && e.Item?.holder?.S === me && bug !== 'own') {
        return { Attributes: e.Item }
      }
      throw e
    })
    return Number(Attributes?.fence?.N)
  }

  async extend(name: string, me: string): Promise<void> {
    const own = bug === 'extends-any' ? {} : { ConditionExpression: 'holder = :me' }
    await this.db.updateItem({
      ...this.row(name), ...own, UpdateExpression: 'SET holder = :me, expires = :end',
      ExpressionAttributeValues: { ':me': S(me), ':end': this.end() },
    })
  }

  async release(name: string, me: string): Promise<void> {
    if (bug === 'keeps') return
    const own = bug === 'releases-any'
      ? {} : { ConditionExpression: 'holder = :me', ExpressionAttributeValues: { ':me': S(me) } }
    if (bug === 'deletes') await this.db.deleteItem({ ...this.row(name), ...own }) // and its token begins anew
    else await this.db.updateItem({ ...this.row(name), ...own, UpdateExpression: 'REMOVE holder, expires' })
  }

  async read(name: string, me: string): Promise<boolean> {
    const { Item } = await this.db.getItem({ ...this.row(name), ConsistentRead: true })
    return Item?.holder?.S === me && Number(Item.expires?.N) > Date.now()
  }

  end() {
    const end = Date.now() + this.o.config.lease * 1000
    return N(bug === 'seconds' ? Math.floor(end / 1000) * 1000 : end)
  }

  row(name: string) { return { TableName: this.o.table, Key: { pk: S('LOCK#' + name), sk: S('LOCK') } } }
}
