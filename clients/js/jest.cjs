// A test that is a check, for Jest with its globals.
'use strict'
const { checked, timeout } = require('./check.cjs')

exports.check = (name, options, adapter) => {
  test(name, () => checked(expect.getState(), name, options, adapter), timeout(options))
}
