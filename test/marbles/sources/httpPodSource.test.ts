import { delay, map, NEVER, type Observable, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import type { SourceSnapshot } from "../../../src/core/pod/sourceSnapshot.ts";
import type { ManifestConditions, ManifestResponse } from "../../../src/ports/manifestServer.ts";
import { httpPodSource } from "../../../src/sources/httpPodSource.ts";
import { bytesOf, podYaml, problemLines, testDigest } from "../../support/manifests.ts";
import { marbles } from "../../support/marbles.ts";

const URL_TEXT = "http://manifests/pods";
const answer = (body: string, more: Partial<ManifestResponse> = {}): Observable<ManifestResponse> =>
  of({ status: 200, body: bytesOf(body), etag: undefined, lastModified: undefined, ...more });
const status = (code: number): Observable<ManifestResponse> => answer("", { status: code });
const refused = throwError(() => kubeletError("Unavailable", "no answer: ECONNREFUSED"));

const summary = (snapshot: SourceSnapshot): string => {
  const pods = snapshot.pods.map(
    (pod) => `${pod.metadata.name.replace("-node-1", "")}@${pod.spec.containers[0]?.image}`,
  );
  return [...(snapshot.ready === false ? ["not ready"] : []), ...pods, ...problemLines(snapshot)].join(" | ");
};

interface Rule {
  /** Answers to requests in order; the last one stays. */
  readonly answers: readonly Observable<ManifestResponse>[];
  readonly expected: string;
  readonly values: Readonly<Record<string, string>>;
  readonly conditions?: readonly ManifestConditions[];
}

/** Answers one request every 10 ms, and expects snapshots and conditions. */
function rule({ answers, expected, values, conditions }: Rule): () => void {
  return marbles(({ clock, expectObservable, flush }) => {
    const unsub = "- 100ms !";

    const asked: ManifestConditions[] = [];
    const server = {
      get: (given: ManifestConditions) => {
        asked.push(given);
        return answers[asked.length - 1] ?? answers.at(-1) ?? NEVER;
      },
    };
    const options = {
      url: URL_TEXT,
      server,
      nodeName: "node-1",
      periodMs: 10,
      timeoutMs: 50,
      clock,
      digest: testDigest,
    };
    expectObservable(httpPodSource(options).pipe(map(summary)), unsub).toBe(expected, values);
    flush();
    if (conditions !== undefined) expect(asked.slice(0, conditions.length)).toEqual(conditions);
  });
}

const A1 = answer(podYaml("a", "app:1"));
const A2 = answer(podYaml("a", "app:2"));
const LIST = answer(
  '{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"},"spec":{"containers":[{"name":"m","image":"i"}]}},{"metadata":{"name":"b"},"spec":{"containers":[{"name":"m","image":"i"}]}}]}',
);

describe("httpPodSource", () => {
  it(
    "requests the page at once and a period after each response",
    rule({
      answers: [A1, A2],
      expected: "x---------y",
      values: { x: "a@app:1", y: "a@app:2" },
    }),
  );
  it(
    "reads a PodList",
    rule({
      answers: [LIST],
      expected: "x",
      values: { x: "a@i | b@i" },
    }),
  );
  it(
    "emits nothing for the same content",
    rule({
      answers: [A1, A1, A1],
      expected: "x",
      values: { x: "a@app:1" },
    }),
  );
  it(
    "sends conditional requests, and treats 304 as unchanged",
    rule({
      answers: [
        answer(podYaml("a", "app:1"), { etag: '"1"', lastModified: "Thu, 01 Jan 2026 00:00:00 GMT" }),
        status(304),
        answer(podYaml("a", "app:2"), { etag: '"2"' }),
        status(304),
      ],
      expected: "x 19ms y",
      values: { x: "a@app:1", y: "a@app:2" },
      conditions: [
        { etag: undefined, lastModified: undefined },
        { etag: '"1"', lastModified: "Thu, 01 Jan 2026 00:00:00 GMT" },
        { etag: '"1"', lastModified: "Thu, 01 Jan 2026 00:00:00 GMT" },
        { etag: '"2"', lastModified: undefined },
      ],
    }),
  );
  it(
    "keeps the last good pods through failures, and reports each failure and the recovery once",
    rule({
      answers: [A1, status(500), status(500), refused, A1],
      expected: "x---------y 19ms z---------x",
      values: {
        x: "a@app:1",
        y: "a@app:1 | answered with status 500",
        z: "a@app:1 | no answer: ECONNREFUSED",
      },
    }),
  );
  it(
    "is not ready, and reports the error, until the first response",
    rule({
      answers: [refused, status(404), A1],
      expected: "x---------y---------z",
      values: {
        x: "not ready | no answer: ECONNREFUSED",
        y: "not ready | answered with status 404",
        z: "a@app:1",
      },
    }),
  );
  it(
    "treats an empty body as no pods, as upstream, with a warning",
    rule({
      answers: [A1, answer(""), A1],
      expected: "x---------y---------x",
      values: { x: "a@app:1", y: "zero-length data received" },
    }),
  );
  it(
    "keeps the last good pod of content that cannot be used",
    rule({
      answers: [A1, answer(podYaml("a", '""')), answer("{"), A2],
      expected: "x---------y---------z---------w",
      values: {
        x: "a@app:1",
        y: "a@app:1 | 8 spec.containers[0].image: Required value",
        z: "a@app:1 | 1: is not valid JSON: the text ends too early",
        w: "a@app:2",
      },
    }),
  );
  it(
    "is not ready after a first page that cannot be used, as upstream",
    rule({
      answers: [answer("{"), A1],
      expected: "x---------y",
      values: {
        x: "not ready | 1: is not valid JSON: the text ends too early",
        y: "a@app:1",
      },
    }),
  );
  it(
    "uses the first of two pods with one name",
    rule({
      answers: [answer(`${podYaml("a", "app:1")}---\n${podYaml("a", "app:2")}`)],
      expected: "x",
      values: {
        x: "a@app:1 | 13: pod default/a-node-1 is already defined on line 4 of the same manifest, which is the one used",
      },
    }),
  );
  it(
    "cancels a request that hangs at its deadline, then repeats it after a period",
    rule({
      answers: [NEVER, A1],
      expected: "50ms x---------y",
      values: {
        x: "not ready | no answer within 50 ms",
        y: "a@app:1",
      },
    }),
  );
  it(
    "cancels the pending request on unsubscribe",
    marbles(({ clock, cold, expectObservable, expectSubscriptions }) => {
      const request = "    ----------------x";
      const requestSubs = "^----!";
      const unsub = "      -----!";
      const expected = "   ------";

      const request$ = cold<ManifestResponse>(request);
      const options = {
        url: URL_TEXT,
        server: { get: () => request$ },
        nodeName: "n",
        periodMs: 10,
        clock,
        digest: testDigest,
      };
      expectObservable(httpPodSource(options), unsub).toBe(expected);
      expectSubscriptions(request$).toBe(requestSubs);
    }),
  );
  it(
    "never has two requests at once, also with slow responses",
    marbles(({ clock, scheduler, expectObservable, flush }) => {
      const unsub = "   200ms !";
      const expected = "25ms x";

      let open = 0;
      let most = 0;
      const server = {
        get: () => {
          open += 1;
          most = Math.max(most, open);
          return A1.pipe(
            delay(25, scheduler),
            map((response) => {
              open -= 1;
              return response;
            }),
          );
        },
      };
      const options = { url: URL_TEXT, server, nodeName: "node-1", periodMs: 10, clock, digest: testDigest };
      expectObservable(httpPodSource(options).pipe(map(summary)), unsub).toBe(expected, { x: "a@app:1" });
      flush();
      expect(most).toBe(1);
    }),
  );
});
