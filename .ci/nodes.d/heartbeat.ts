// The cache of examples/programs, whose holder extends its lease while it renders. With the argument blind, it extends
// the lease without asking whether it still holds it.
import { node, origin, bodies } from 'isr-sim' // before anything else
import { ConditionalCheckFailedException, type AttributeValue } from '@aws-sdk/client-dynamodb'
import { Cache, type Served } from './cache.ts'

const blind = process.argv[2] === 'blind'

class Beating extends Cache {
  override async regenerate(key: string, token: string): Promise<Served | undefined> {
    const beat = setInterval(() => this.refresh(key, token).catch(() => clearInterval(beat)), this.o.config.lease * 300)
    try {
      return await super.regenerate(key, token)
    } finally {
      clearInterval(beat) // the last beat may be under way: nobody awaits it
    }
  }

  refresh(key: string, token: string): Promise<void> {
    const seconds = Date.now() / 1000
    const until = Math.ceil(seconds + this.o.config.lease)
    const own = blind ? {} : { ConditionExpression: 'lease_token = :token AND lease_expires_at > :now' }
    const now = { N: String(Math.floor(seconds)) }
    const values: Record<string, AttributeValue> = blind ? {} : { ':token': { S: token }, ':now': now }
    const ttl = { N: String(until + this.o.config.ttlBuffer) }
    return this.db.updateItem({
      TableName: this.o.table, Key: this.row(key, 'LOCK'), ...own, ExpressionAttributeNames: { '#ttl': 'ttl' },
      UpdateExpression: 'SET lease_expires_at = :until, #ttl = :ttl',
      ExpressionAttributeValues: { ...values, ':until': { N: String(until) }, ':ttl': ttl },
    }).then(() => {}, (e: unknown) => { if (!(e instanceof ConditionalCheckFailedException)) throw e })
  }
}

node((init) => new Beating({ ...init, origin, bodies }), ['get'])
