// A node that asks for a row with a random id from the system. The kit does not replace this source of random numbers.
import { node } from 'isr-sim' // before anything else
import { readFileSync } from 'node:fs'
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb'

node(({ client, table }) => {
  const db = new DynamoDBClient(client)
  const read = (pk: string) =>
    db.send(new GetItemCommand({ TableName: table, Key: { pk: { S: pk }, sk: { S: 'META' } } }))
  return {
    async get() {
      await read('CACHE#first')
      await read('CACHE#' + readFileSync('/proc/sys/kernel/random/uuid', 'utf8').trim())
      return { body: '', fresh: false }
    },
  }
}, ['get'])
