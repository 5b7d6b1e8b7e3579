import { type Exchange, httpsTransport, overHttps } from "#adapters/kubernetes/transport.ts";

/** A transport that counts requests and the bytes that it receives, and sends these headers with each request. */
export function countingTransport(kubeconfig: string, headers: Readonly<Record<string, string>>) {
  const count = { requests: 0, bytes: 0 };
  const exchange: Exchange = async (url, options, body) => {
    count.requests++;
    const answer = await overHttps(url, { ...options, headers: { ...(options.headers as Record<string, string>), ...headers } }, body);
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const piece of answer.body) {
        count.bytes += piece.length;
        yield piece;
      }
    };
    return { ...answer, body: counted() };
  };
  return { count, transport: httpsTransport({ kubeconfig }, exchange) };
}
