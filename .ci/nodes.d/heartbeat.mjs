// The cache of examples/programs, whose holder extends its lease while it renders. With the argument blind, it does not
// ask whether the lease is still its own.
import { node, origin, bodies } from 'isr-sim-node' // before anything else
import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { Cache } from './cache.mjs'

const blind = process.argv[2] === 'blind'

class Beating extends Cache {
  async regenerate(key, token) {
    const beat = setInterval(() => this.extend(key, token).catch(() => clearInterval(beat)), this.config.lease * 300)
    try {
      return await super.regenerate(key, token)
    } finally {
      clearInterval(beat)
      await this.beating // the last one may be under way
    }
  }
  extend(key, token) {
    const seconds = Date.now() / 1000
    const until = Math.ceil(seconds + this.config.lease)
    const own = blind ? {} : { ConditionExpression: 'lease_token = :token AND lease_expires_at > :now' }
    const values = blind ? {} : { ':token': { S: token }, ':now': { N: String(Math.floor(seconds)) } }
    return this.beating = this.db.send(new UpdateItemCommand({
      TableName: this.table, Key: this.row(key, 'LOCK'), ...own, UpdateExpression: 'SET lease_expires_at = :until, #ttl = :ttl',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ...values, ':until': { N: String(until) }, ':ttl': { N: String(until + this.config.ttlBuffer) } },
    })).catch((e) => { if (e.name !== 'ConditionalCheckFailedException') throw e })
  }
}

node((init) => new Beating({ ...init, origin, bodies }), ['get'])
