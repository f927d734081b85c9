// A fake for each test file: setupFilesAfterEnv: ['isr-sim/jest/setup'].
'use strict'
const { startFake } = require('./check.cjs')

let fake
beforeAll(async () => { fake = await startFake() })
afterAll(() => fake?.stop())
