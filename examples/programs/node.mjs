// The cache of cache.mjs as a node of isr-sim: isr-sim run --exec 'node node.mjs' paused-writer
import { node, origin, bodies } from 'isr-sim-node'
import { Cache } from './cache.mjs'

node((init) => new Cache({ ...init, origin, bodies }), ['get'])
