import { createGunzip } from "node:zlib";

/**
 * Most bytes of a delivery, unpacked. CloudWatch Logs sends up to 6 MB in base64, and audit records shrink to a tenth
 * or a twentieth. A delivery that unpacks to more is no delivery of CloudWatch Logs.
 */
const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;
/** CloudWatch Logs takes records of up to 1 MB, and their quotation marks are escaped. A longer one is left out. */
const MAX_RECORD_BYTES = 4 * 1024 * 1024;
/** What is around the records: names of the account, the log group and the stream. */
const MAX_ENVELOPE_BYTES = 256 * 1024;
/** Unpacked at a time, so that memory does not grow with the delivery. */
const CHUNK_BYTES = 64 * 1024;

/** A delivery that cannot be unpacked, or not to its end; the sentence says why. */
export class UnreadableDeliveryError extends Error {
  override readonly name = "UnreadableDeliveryError";
}

/**
 * Unpacks a gzipped JSON delivery piece by piece, so that memory holds one record at a time. `onRecord` is called with
 * the text of each object in a list of the delivery, and with undefined for an object that is too long.
 * @returns the delivery's JSON, with "{}" in place of each such object
 * @throws UnreadableDeliveryError for data that is not gzip, ends early, or unpacks to too much; the records before
 * that place have been passed on
 */
export async function unpack(data: string, onRecord: (text: string | undefined) => void): Promise<string> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  const split = splitter(onRecord);
  let unpacked = 0;
  gunzip.end(Buffer.from(data, "base64"));
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      unpacked += chunk.length;
      if (unpacked > MAX_UNPACKED_BYTES) throw new UnreadableDeliveryError(`it unpacks to more than ${MAX_UNPACKED_BYTES} bytes`);
      split.read(chunk);
    }
  } catch (error) {
    if (error instanceof UnreadableDeliveryError) throw error;
    throw new UnreadableDeliveryError("it is not gzip, or it ends early");
  }
  return split.envelope();
}

const [QUOTE, BACKSLASH, OPEN_MAP, CLOSE_MAP, OPEN_LIST, CLOSE_LIST] = Buffer.from('"\\{}[]');
/** An object at this depth is in a list of the delivery: one level for the delivery, one for the list. */
const RECORD_DEPTH = 3;

/**
 * Splits JSON into the objects in its lists and what is around them. A piece may end anywhere, also within a letter.
 */
function splitter(onRecord: (text: string | undefined) => void) {
  const envelope = pieces(MAX_ENVELOPE_BYTES);
  const record = pieces(MAX_RECORD_BYTES);
  let [depth, inRecord, inText, escaped] = [0, false, false, false];

  /** The place after the record or the stretch of envelope that begins at `start`. */
  function endOfStretch(chunk: Buffer, start: number): number {
    for (let i = start; i < chunk.length; i++) {
      const byte = chunk[i];
      if (escaped) escaped = false;
      else if (inText) {
        if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inText = false;
      } else if (byte === QUOTE) inText = true;
      else if (byte === OPEN_MAP || byte === OPEN_LIST) {
        if (depth === RECORD_DEPTH - 1 && byte === OPEN_MAP && !inRecord) return i;
        depth++;
      } else if (byte === CLOSE_MAP || byte === CLOSE_LIST) {
        depth--;
        if (inRecord && depth === RECORD_DEPTH - 1) return i + 1;
      }
    }
    return chunk.length;
  }

  return {
    read(chunk: Buffer): void {
      for (let start = 0; start < chunk.length; ) {
        const end = endOfStretch(chunk, start);
        (inRecord ? record : envelope).add(chunk.subarray(start, end));
        start = end;
        if (inRecord && depth === RECORD_DEPTH - 1) {
          inRecord = false;
          onRecord(record.take());
        } else if (!inRecord && start < chunk.length) {
          inRecord = true;
          envelope.add(EMPTY);
          record.add(chunk.subarray(start, start + 1));
          depth++;
          start++;
        }
      }
    },
    envelope(): string {
      const text = envelope.take();
      if (text === undefined) throw new UnreadableDeliveryError(`it has more than ${MAX_ENVELOPE_BYTES} bytes around its records`);
      return text;
    },
  };
}

const EMPTY = Buffer.from("{}");

/** Collects the pieces of a text up to a length; a longer text is undefined. */
function pieces(maxBytes: number) {
  let [kept, length]: [Buffer[], number] = [[], 0];
  return {
    add(piece: Buffer): void {
      length += piece.length;
      if (length <= maxBytes) kept.push(piece);
      else kept = [];
    },
    take(): string | undefined {
      const text = length <= maxBytes ? Buffer.concat(kept).toString("utf8") : undefined;
      [kept, length] = [[], 0];
      return text;
    },
  };
}
