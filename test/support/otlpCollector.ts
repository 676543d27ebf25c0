/** A collector of spans: OTLP over gRPC, with the few fields of its messages that tests read. */
import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall } from "@grpc/grpc-js";
import { BinaryReader } from "@bufbuild/protobuf/wire";

/** A span as it was received. */
export interface CollectedSpan {
  readonly name: string;
  readonly scope: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the span began its trace. */
  readonly parentSpanId: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, string | number>> }[];
  /** Span ids of the links. */
  readonly links: readonly string[];
  /** 0 unset, 2 error. */
  readonly status: number;
  readonly message: string;
  /** Attributes of the process that sent it. */
  readonly resource: Readonly<Record<string, string | number>>;
}

/** How a collector answers a batch. */
export type CollectorAnswer = "accept" | "garbage" | "refuse" | "hang";

export interface Collector {
  readonly address: string;
  readonly spans: readonly CollectedSpan[];
  /** Number of batches so far, whatever the answer. */
  readonly batches: number;
  answer: CollectorAnswer;
  /** Ends at once, with every call under way. */
  stop(): void;
}

const PATH = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/** Listens when it resolves: on a free port, or on `address`. */
export async function startCollector(address = "127.0.0.1:0"): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const server = new Server();
  let batches = 0;
  const collector = { answer: "accept" as CollectorAnswer };
  const bytes = (value: Buffer): Buffer => value;
  const method = {
    path: PATH,
    requestStream: false,
    responseStream: false,
    ...{ requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes, responseDeserialize: bytes },
  };
  server.addService(
    { export: method },
    {
      export: (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
        batches += 1;
        if (collector.answer === "hang") return;
        if (collector.answer === "refuse") return answer({ code: 3, details: "no spans here" });
        spans.push(...spansIn(call.request));
        answer(null, collector.answer === "garbage" ? Buffer.from("\xff\xff\xff", "latin1") : Buffer.alloc(0));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (failure, bound) =>
      failure === null ? resolve(bound) : reject(failure),
    );
  });
  return Object.defineProperties(collector as Collector, {
    address: { value: address.endsWith(":0") ? address.replace(/0$/, String(port)) : address },
    spans: { value: spans },
    batches: { get: () => batches },
    stop: { value: () => server.forceShutdown() },
  });
}

/** Fields of a message by number, in order. Numbers of any size become numbers. */
function fieldsOf(message: Uint8Array): ReadonlyMap<number, readonly (Uint8Array | number)[]> {
  const reader = new BinaryReader(message);
  const fields = new Map<number, (Uint8Array | number)[]>();
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    const value =
      type === 2
        ? reader.bytes()
        : type === 1
          ? Number(reader.fixed64())
          : type === 5
            ? reader.fixed32()
            : Number(reader.int64());
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

type Fields = ReturnType<typeof fieldsOf>;
const messages = (fields: Fields, number: number): readonly Uint8Array[] =>
  (fields.get(number) ?? []).filter((value) => typeof value !== "number");
const message = (fields: Fields, number: number): Fields => fieldsOf(messages(fields, number)[0] ?? new Uint8Array());
const text = (fields: Fields, number: number): string => new TextDecoder().decode(messages(fields, number)[0]);
const hex = (fields: Fields, number: number): string => Buffer.from(messages(fields, number)[0] ?? []).toString("hex");
const amount = (fields: Fields, number: number): number => Number(fields.get(number)?.[0] ?? 0);

function attributesIn(fields: Fields, number: number): Readonly<Record<string, string | number>> {
  const pairs = messages(fields, number).map((each): readonly [string, string | number] => {
    const pair = fieldsOf(each);
    const value = message(pair, 2);
    return [text(pair, 1), value.has(1) ? text(value, 1) : amount(value, 3)];
  });
  return Object.fromEntries(pairs);
}

function spansIn(request: Uint8Array): readonly CollectedSpan[] {
  return messages(fieldsOf(request), 1).flatMap((each) => {
    const ofResource = fieldsOf(each);
    const resource = attributesIn(message(ofResource, 1), 1);
    return messages(ofResource, 2).flatMap((inner) => {
      const ofScope = fieldsOf(inner);
      const scope = text(message(ofScope, 1), 1);
      return messages(ofScope, 2).map((span) => spanOf(fieldsOf(span), scope, resource));
    });
  });
}

function spanOf(span: Fields, scope: string, resource: CollectedSpan["resource"]): CollectedSpan {
  return {
    name: text(span, 5),
    scope,
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentSpanId: hex(span, 4),
    kind: amount(span, 6),
    attributes: attributesIn(span, 9),
    events: messages(span, 11)
      .map(fieldsOf)
      .map((event) => ({ name: text(event, 2), attributes: attributesIn(event, 3) })),
    links: messages(span, 13)
      .map(fieldsOf)
      .map((link) => hex(link, 2)),
    status: amount(message(span, 15), 3),
    message: text(message(span, 15), 2),
    resource,
  };
}
