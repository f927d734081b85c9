// The cache of cache.ts as a node of isr-sim: isr-sim run --exec 'node --import tsx node.ts' paused-writer
import { node, origin, bodies } from 'isr-sim' // before anything else
import { Cache } from './cache.ts'

node((init) => new Cache({ ...init, origin, bodies }), ['get'])
