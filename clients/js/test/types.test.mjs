// The modules export exactly what their types declare. tsc checks that the types are right: .ci/nodes runs it on a
// program that uses all of them, and on one that misuses them.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'

const exported = (file) => {
  const text = readFileSync(new URL('../' + file, import.meta.url), 'utf8')
  const names = text.matchAll(/^export (?:async )?(?:const|let|function\*?|class|default) ?(\w*)/gm)
  return [...new Set([...names].map((m) => m[1]))].sort()
}

for (const name of ['index', 'history']) {
  test(`${name}.d.ts names what ${name}.mjs exports`, () => {
    const names = exported(name + '.mjs')
    assert.notDeepEqual(names, [])
    assert.deepEqual(exported(name + '.d.ts'), names)
  })
}

test('the package has every file that it names', () => {
  const { exports, files, main, types } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  for (const file of [main, types, ...Object.values(exports).flatMap(Object.values)]) {
    assert.ok(files.includes(file.replace('./', '')), file)
    readFileSync(new URL('../' + file, import.meta.url))
  }
})
