const LINE_FEED = 10;

/**
 * Calls `onLine` for each line, without its end, of UTF-8 text that arrives in pieces. Text after the last line feed
 * was cut off and is dropped.
 */
export async function eachLine(pieces: AsyncIterable<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  let begun: Uint8Array[] = [];
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      begun.push(piece.subarray(start, end));
      onLine(Buffer.concat(begun).toString("utf8"));
      begun = [];
      start = end + 1;
    }
    if (start < piece.length) {
      begun.push(piece.subarray(start));
    }
  }
}
