/** Reads our .proto files with buf and writes down what the wire depends on: one line per message, enum and rpc. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));

interface FieldDescriptor {
  readonly name: string;
  readonly number: number;
  readonly label: string;
  readonly type: string;
  readonly typeName?: string;
}
interface EnumDescriptor {
  readonly name: string;
  readonly value: readonly { readonly name: string; readonly number?: number }[];
}
interface MessageDescriptor {
  readonly name: string;
  readonly field?: readonly FieldDescriptor[];
  readonly nestedType?: readonly MessageDescriptor[];
  readonly enumType?: readonly EnumDescriptor[];
  readonly options?: { readonly mapEntry?: boolean };
}
interface MethodDescriptor {
  readonly name: string;
  readonly inputType: string;
  readonly outputType: string;
  readonly clientStreaming?: boolean;
  readonly serverStreaming?: boolean;
}
interface FileDescriptor {
  readonly name: string;
  readonly package: string;
  readonly messageType?: readonly MessageDescriptor[];
  readonly enumType?: readonly EnumDescriptor[];
  readonly service?: readonly { readonly name: string; readonly method: readonly MethodDescriptor[] }[];
}

/** Runs the repository's buf; its text output, or its complaint as the error. */
export function buf(...args: readonly string[]): string {
  const command = `${REPOSITORY}node_modules/.bin/buf`;
  return execFileSync(command, args, { cwd: REPOSITORY, encoding: "utf8", maxBuffer: 64 << 20 });
}

/** Sorted lines of everything in `proto/`, without the files it imports from protobuf itself. */
export function protoShape(): readonly string[] {
  const built = JSON.parse(buf("build", "-o", "-#format=json")) as { readonly file: readonly FileDescriptor[] };
  const ours = built.file.filter((file) => !file.name.startsWith("google/"));
  return ours.flatMap(fileLines).sort();
}

function fileLines(file: FileDescriptor): readonly string[] {
  const scope = file.package;
  return [
    ...(file.messageType ?? []).flatMap((message) => messageLines(message, scope)),
    ...(file.enumType ?? []).map((item) => enumLine(item, scope)),
    ...(file.service ?? []).flatMap((service) =>
      service.method.map((method) => methodLine(method, `${scope}.${service.name}`)),
    ),
  ];
}

function messageLines(message: MessageDescriptor, scope: string): readonly string[] {
  const name = `${scope}.${message.name}`;
  const maps = new Map(
    (message.nestedType ?? [])
      .filter((nested) => nested.options?.mapEntry === true)
      .map((nested) => [`.${name}.${nested.name}`, (nested.field ?? []).map(typeOf).join(",")]),
  );
  const nested = (message.nestedType ?? []).filter((item) => item.options?.mapEntry !== true);
  const fields = [...(message.field ?? [])]
    .sort((a, b) => a.number - b.number)
    .map((field) => {
      const pair = maps.get(field.typeName ?? "");
      if (pair !== undefined) return `${field.name}=${field.number}:map<${pair}>`;
      return `${field.name}=${field.number}:${typeOf(field)}${field.label === "LABEL_REPEATED" ? "[]" : ""}`;
    });
  return [
    `message ${name} ${fields.join(" ")}`.trimEnd(),
    ...nested.flatMap((item) => messageLines(item, name)),
    ...(message.enumType ?? []).map((item) => enumLine(item, name)),
  ];
}

const typeOf = (field: FieldDescriptor): string =>
  field.typeName?.replace(/^\.(runtime\.v1\.|containerd\.)?/, "") ?? field.type.replace("TYPE_", "").toLowerCase();

const enumLine = (item: EnumDescriptor, scope: string): string =>
  `enum ${scope}.${item.name} ${item.value.map((value) => `${value.name}=${value.number ?? 0}`).join(" ")}`;

function methodLine(method: MethodDescriptor, service: string): string {
  const input = `${method.clientStreaming === true ? "stream " : ""}${method.inputType.slice(1)}`;
  const output = `${method.serverStreaming === true ? "stream " : ""}${method.outputType.slice(1)}`;
  return `rpc ${service}/${method.name} (${input}) -> (${output})`;
}
