/**
 * Variables that hold `name=value` pairs with commas between them. The SDK silently drops a malformed header, and drops
 * all resource attributes if one of them is malformed. serve refuses malformed entries. Messages repeat no value and no
 * entry without a name: these may be secrets.
 */
import { invalid } from '../ground/arguments.js';
import { attempt } from '../ground/errors.js';

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** The characters that Node accepts in a header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const GRPC_NAME = /^[0-9a-z_.-]+$/;
const GRPC_VALUE = /^[\x20-\x7e]*$/;
/** The SDK's limit for a key and for a value of a resource attribute, characters. */
const MAX_LENGTH = 255;

/** @throws NixlTelemetryError CONFIG_INVALID */
export function checkHeaders(variable: string, text: string, isGrpc: boolean): void {
  const names = new Set<string>();
  const allowed = 'name=value pairs with commas between them, percent-encoded (%2C is a comma, %3B a semicolon)';
  for (const { entry, refuse } of entriesOf(variable, text, allowed)) {
    if (entry.includes(';')) refuse('has a semicolon, and the SDK drops the text after it');
    const { name, value } = pairOf(entry, refuse);
    if (value === '') refuse(`has no value for the header ${name}`);
    const [namePattern, valuePattern] = isGrpc ? [GRPC_NAME, GRPC_VALUE] : [HEADER_NAME, HEADER_VALUE];
    const key = name.toLowerCase();
    if (!namePattern.test(isGrpc ? key : name) || (isGrpc && key.endsWith('-bin'))) {
      refuse(`has a name that is not allowed for ${isGrpc ? 'a gRPC text header' : 'an HTTP header'}`);
    }
    if (!valuePattern.test(value)) refuse(`has a value for ${name} with characters that no header may have`);
    if (names.has(key)) refuse(`repeats the header ${name}`);
    names.add(key);
  }
}

/**
 * Accepts a repeated key: operators append to the variable to override one, and the SDK takes the last value.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function checkResourceAttributes(variable: string, text: string): void {
  const allowed = 'key=value pairs with commas between them, percent-encoded (%2C is a comma, %3D an equals sign)';
  for (const { entry, refuse } of entriesOf(variable, text, allowed)) {
    if (entry.split('=').length > 2) refuse('has more than one =');
    const { name, value } = pairOf(entry, refuse);
    if (name.length > MAX_LENGTH || value.length > MAX_LENGTH)
      refuse(`is longer than ${MAX_LENGTH} characters in its key or value`);
  }
}

type Refuse = (problem: string) => never;

/** Splits a text into entries. Omits empty ones, such as after a last comma, as the SDK does. */
function entriesOf(variable: string, text: string, allowed: string) {
  let from = 1;
  return text.split(',').flatMap((part, i) => {
    const where = `entry ${i + 1}, from character ${from} on,`;
    from += part.length + 1;
    const refuse: Refuse = (problem) => {
      throw invalid(`${variable}: ${where} ${problem}; allowed: ${allowed}`);
    };
    const entry = part.trim();
    return entry === '' ? [] : [{ entry, refuse }];
  });
}

function pairOf(entry: string, refuse: Refuse): { name: string; value: string } {
  const at = entry.indexOf('=');
  if (at === -1) refuse('has no =');
  const name = entry.slice(0, at).trim();
  if (name === '') refuse('has no name before its =');
  const value = entry.slice(at + 1).trim();
  return {
    name:
      attempt(() => decodeURIComponent(name)) ?? refuse('has a % in its name that does not begin an encoded character'),
    value:
      attempt(() => decodeURIComponent(value)) ??
      refuse('has a % in its value that does not begin an encoded character (%25 is a %)'),
  };
}
