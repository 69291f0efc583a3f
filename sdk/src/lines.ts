/**
 * Lines of a stream as they arrive, several at a time; of the stream no more than one part is kept.
 * Throws a TypeError, as `fetch` does of a lost connection, where it ends within a line: it was cut.
 */
async function* linesOf(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<readonly string[], void, undefined> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let parts: string[] = [];
  try {
    for (let done = false; !done;) {
      const read = await reader.read();
      done = read.done;
      const [first = '', ...others] = decoder.decode(read.value, { stream: !done }).split('\n');
      parts.push(first);
      if (others.length === 0) continue;
      yield [parts.join(''), ...others.slice(0, -1)];
      parts = others.slice(-1);
    }
    // each line of the service ends, the last one too
    if (parts.some((part) => part !== '')) throw new TypeError('the answer ends within a line');
  } finally {
    await reader.cancel();
  }
}

/** JSON values of a stream, one a line. */
export async function* entriesOfLines<Entry>(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Entry, void, undefined> {
  for await (const lines of linesOf(stream))
    for (const line of lines) if (line !== '') yield JSON.parse(line) as Entry;
}
