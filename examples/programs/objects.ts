// The cache of cache.ts as a node that keeps its bodies in S3, through the SDK's own client.
import { node, origin } from 'isr-sim' // before anything else
import { GetObjectCommand, NoSuchKey, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { Cache } from './cache.ts'

node((init) => {
  const s3 = new S3Client(init.client)
  const bodies = {
    put: async (name: string, body: string) => {
      await s3.send(new PutObjectCommand({ Bucket: init.bucket, Key: name, Body: body, ContentType: 'text/html' }))
    },
    get: async (name: string) => {
      try {
        const { Body } = await s3.send(new GetObjectCommand({ Bucket: init.bucket, Key: name }))
        return await Body?.transformToString()
      } catch (e) {
        if (e instanceof NoSuchKey) return undefined
        throw e
      }
    },
  }
  return new Cache({ ...init, origin, bodies })
}, ['get'])
