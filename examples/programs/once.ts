// Idempotent calls, over the plain AWS SDK v3: a row IN_PROGRESS with an owner and an end, and then the completed
// row with the result, until it may be forgotten. BUG breaks it in the ways that teams do.
import { randomUUID } from 'node:crypto'
import {
  type AttributeValue, ConditionalCheckFailedException, DynamoDB, type DynamoDBClientConfig,
} from '@aws-sdk/client-dynamodb'

export interface Options { client: DynamoDBClientConfig, table: string, config: { lease: number, retention: number } }
export class OtherPayload extends Error {}
type Row = Record<string, AttributeValue>

const bug = process.env.BUG
const S = (s: string) => ({ S: s })
const N = (n: number) => ({ N: String(n) })
const names = { '#owner': 'owner', '#status': 'status' }

/** The row that did not meet a condition. Any other error is thrown. */
function refused(e: unknown): Row {
  if (e instanceof ConditionalCheckFailedException) return e.Item ?? {}
  throw e
}

export class Once {
  readonly o: Options
  readonly db: DynamoDB
  constructor(o: Options) { [this.o, this.db] = [o, new DynamoDB(o.client)] }

  async once(key: string, payload: string, effect: () => Promise<string>): Promise<string> {
    const me = randomUUID()
    const before = await this.begin(key, payload, me)
    if (before) return this.resultOf(before, payload)
    let result: string
    try { result = await effect() } catch (e) {
      if (bug === 'completes-what-failed') return this.complete(key, payload, me, '')
      await this.giveUp(key, me).catch(() => {}) // its row ends by itself
      throw e
    }
    return this.complete(key, payload, me, result).catch(async (e) => {
      if (bug === 'gives-up-what-happened') await this.giveUp(key, me).catch(() => {})
      throw e // the row stays: the effect has happened
    })
  }

  /** Takes the key, or returns the row of another call that counts. */
  async begin(key: string, payload: string, me: string): Promise<Row | undefined> {
    const { lease } = this.o.config
    let now = Date.now()
    const Item = {
      ...this.row(key).Key, owner: S(me), status: S('IN_PROGRESS'), payload: S(payload), until: N(now + lease * 1000),
      ...this.kept(now),
    }
    let free = 'attribute_not_exists(pk) OR kept <= :now OR #status = :progress AND #until <= :now'
    switch (bug) {
      case 'unconditional': free = 'attribute_not_exists(nothing) OR #until <= :now OR #status = :progress'; break
      case 'early': now += 1000; break // "they must be done by then"
      case 'never': free = free.replace('#until <= :now', '#until < :now AND attribute_exists(nothing)'); break
      case 'looks-first': {
        const { Item: found } = await this.db.getItem({ ...this.row(key), ConsistentRead: true })
        if (found?.status?.S === 'COMPLETED') return found
        free = 'attribute_not_exists(nothing) OR #until <= :now OR #status = :progress'
      }
    }
    return this.db.putItem({
      TableName: this.o.table, Item, ConditionExpression: free, ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      ExpressionAttributeNames: { '#status': 'status', '#until': 'until' },
      ExpressionAttributeValues: { ':now': N(now), ':progress': S('IN_PROGRESS') },
    }).then(() => undefined, (e: unknown) => {
      const row = refused(e)
      return row.owner?.S === me && bug !== 'own' ? undefined : row // its own put, whose answer was lost
    })
  }

  /** Writes the result, unless another call has taken its place: then it is that one's. */
  async complete(key: string, payload: string, me: string, result: string): Promise<string> {
    const own = bug === 'completes-blindly'
      ? 'attribute_not_exists(nothing) OR #status = :progress' : '#owner = :me AND #status = :progress'
    return this.db.updateItem({
      ...this.row(key), ConditionExpression: own, ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      ExpressionAttributeNames: { ...names, '#result': 'result', '#ttl': 'ttl' },
      UpdateExpression: 'SET #status = :completed, #result = :result, #owner = :me, payload = :payload, ' +
        'kept = :kept, #ttl = :ttl',
      ExpressionAttributeValues: {
        ':me': S(me), ':progress': S('IN_PROGRESS'), ':completed': S('COMPLETED'), ':result': S(result),
        ':payload': S(payload), ':kept': this.kept(Date.now()).kept, ':ttl': this.kept(Date.now()).ttl,
      },
    }).then(() => result, (e: unknown) => this.resultOf(refused(e), payload)) // its own, if the answer was lost
  }

  /** What a row of another call says. */
  resultOf(row: Row, payload: string): string {
    if (row.payload && row.payload.S !== payload && bug !== 'any-payload') {
      throw new OtherPayload('the key is that of another payload')
    }
    if (row.status?.S === 'COMPLETED') return row.result?.S ?? ''
    throw new Error('another call is in progress: try again')
  }

  /** Lets others make the call: the effect has not happened. */
  async giveUp(key: string, me: string): Promise<void> {
    const own = {
      ConditionExpression: '#owner = :me AND #status = :progress', ExpressionAttributeNames: names,
      ExpressionAttributeValues: { ':me': S(me), ':progress': S('IN_PROGRESS') },
    }
    await this.db.deleteItem({ ...this.row(key), ...(bug === 'gives-up-anyones' ? {} : own) })
  }

  /** Until when a row is kept; TTL may delete it after that. */
  kept(now: number) {
    const end = now + this.o.config.retention * (bug === 'forgets' ? 500 : 1000)
    return { kept: N(end), ttl: N(Math.ceil(end / 1000)) }
  }

  row(key: string) { return { TableName: this.o.table, Key: { pk: S(key), sk: S('ONCE') } } }
}
