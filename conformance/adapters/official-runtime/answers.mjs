// What every op gives: a value, or a refusal in the library's own words.

// Whatever the library throws is its way to refuse. It names no rules.
export async function attempt(ask) {
  try {
    return { ok: await ask() }
  } catch (error) {
    return refused(error)
  }
}

export function refused(error) {
  return { refused: true, note: String(error?.message ?? error).slice(0, 300) }
}

// A refusal that has one of the library's failure codes.
export function refusedWithCode(error) {
  if (typeof error?.code !== 'string') throw error
  return { refused: { code: error.code }, note: error.message }
}
