// The history of a client of isr-sim serve --check, in real time: this module replaces nothing of the process.

/**
 * Returns the call that posts events of one actor, which is the access key id of its requests. control is the address
 * that isr-sim serve prints. A call takes one event, or several that happened one after the other, and returns what the
 * server has found: {events, violations, doubts}. It throws if the server refuses them: then none counts.
 */
export function history(control, actor) {
  return async (...events) => {
    const answer = await fetch(control + '/history', {
      method: 'POST', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(events.map((e) => ({ ...e, actor }))),
    })
    if (!answer.ok) throw new Error(`isr-sim: history: ${answer.status}: ${await answer.text()}`)
    return await answer.json()
  }
}
