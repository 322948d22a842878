import schemas from '../../protocol/schema.json';

/**
 * What is wrong with a value, and where.
 */
export class NonconformityError extends Error {
  constructor(private _expected: string) {
    super();
    this.name = 'NonconformityError';
  }

  /**
   * Say where, from the inside out.
   */
  under(step: string): this {
    this._path = step + this._path;
    this.message = `at $${this._path}: ${this._expected} expected`;
    return this;
  }

  private _path = '';
}

/**
 * Check that a value is a struct, and fill in what it lacks: a file of an
 * earlier version does not have the fields that were added since. Fields that
 * are not known are kept.
 *
 * A report may have some hundred thousand nodes: the value itself is completed,
 * not a copy, and the path is put together only where something is wrong. The
 * schema is generated from the kernel's structs. Ajv, also where its validators
 * are generated ahead, fills in no defaults below `anyOf`, where all optional
 * structs are.
 *
 * @param value - Fresh from `JSON.parse`; nobody else has it.
 *
 * @returns The value.
 *
 * @throws NonconformityError
 */
export function conform(value: unknown, struct: string): unknown {
  try {
    structCheck(struct)(value);
  } catch (error) {
    throw error instanceof NonconformityError ? error.under('') : error;
  }
  return value;
}

/**
 * Throws, or returns nothing.
 */
type Check = (value: unknown) => void;

const known = new Map<string, Check>();

/**
 * The check of a struct; structs may hold structs of their own kind.
 */
function structCheck(name: string): Check {
  const existing = known.get(name);
  if (existing) {
    return existing;
  }
  let run: Check | null = null;
  const check: Check = value => {
    run ??= makeStructCheck(name);
    run(value);
  };
  known.set(name, check);
  return check;
}

function makeStructCheck(struct: string): Check {
  const fields = Object.entries(STRUCTS[struct]).map(
    ([name, schema]): IField => ({
      name,
      check: checkOf(schema),
      make: maker(schema),
      expected: schema.type ?? 'a value'
    })
  );
  return value => {
    const given = record(value);
    let at = '';
    try {
      for (const { name, check, make, expected } of fields) {
        at = name;
        const field = given[name];
        if (field !== undefined) {
          check(field);
        } else if (make) {
          given[name] = make();
        } else {
          throw new NonconformityError(expected);
        }
      }
    } catch (error) {
      throw error instanceof NonconformityError ? error.under(`.${at}`) : error;
    }
  };
}

interface IField {
  name: string;
  check: Check;

  /**
   * Makes what an earlier version lacks; null if all versions have it.
   */
  make: (() => unknown) | null;
  expected: string;
}

function maker(schema: ISchema): IField['make'] {
  if ('default' in schema) {
    const value = schema.default;
    return typeof value === 'object' && value !== null
      ? () => JSON.parse(JSON.stringify(value)) as unknown
      : () => value;
  }
  const { $ref: struct } = schema;
  return struct ? () => conform({}, struct) : null;
}

function checkOf(schema: ISchema): Check {
  if (schema.anyOf) {
    return anyOf(schema.anyOf);
  }
  if (schema.$ref) {
    return structCheck(schema.$ref);
  }
  switch (schema.type ?? (schema.enum ? 'string' : '')) {
    case 'array':
      return list(schema);
    case 'object':
      return typeof schema.additionalProperties === 'object'
        ? mapping(checkOf(schema.additionalProperties))
        : value => void record(value);
    case 'string':
      // Of a choice, a later version may know more.
      return scalar('string', 'text');
    case 'integer':
    case 'number':
      return scalar('number', 'a number');
    case 'boolean':
      return scalar('boolean', 'true or false');
    case 'null':
      return value => {
        if (value !== null) {
          throw new NonconformityError('null');
        }
      };
    default:
      return () => undefined;
  }
}

function list({ items, prefixItems }: ISchema): Check {
  const each = checkOf(items || {});
  const first = prefixItems?.map(checkOf) ?? [];
  return value => {
    if (!Array.isArray(value)) {
      throw new NonconformityError('a list');
    }
    let index = 0;
    try {
      for (; index < value.length; index++) {
        (first[index] ?? each)(value[index]);
      }
    } catch (error) {
      throw error instanceof NonconformityError
        ? error.under(`[${index}]`)
        : error;
    }
  };
}

function mapping(each: Check): Check {
  return value => {
    let at = '';
    try {
      for (const [key, item] of Object.entries(record(value))) {
        at = key;
        each(item);
      }
    } catch (error) {
      throw error instanceof NonconformityError && at !== ''
        ? error.under(`.${at}`)
        : error;
    }
  };
}

function anyOf(schemas: readonly ISchema[]): Check {
  const isOptional = schemas.some(({ type }) => type === 'null');
  const checks = schemas.filter(({ type }) => type !== 'null').map(checkOf);
  return value => {
    if (value === null && isOptional) {
      return;
    }
    let failure: unknown;
    for (const check of checks) {
      try {
        check(value);
        return;
      } catch (error) {
        failure ??= error;
      }
    }
    throw failure;
  };
}

function scalar(type: 'string' | 'number' | 'boolean', name: string): Check {
  return value => {
    if (typeof value !== type) {
      throw new NonconformityError(name);
    }
  };
}

function record(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new NonconformityError('an object');
  }
  return value as Record<string, unknown>;
}

/**
 * The part of JSON schema that msgspec writes.
 */
interface ISchema {
  readonly $ref?: string;
  readonly anyOf?: readonly ISchema[];
  readonly enum?: readonly string[];
  readonly type?: string;
  readonly items?: ISchema | false;
  readonly prefixItems?: readonly ISchema[];
  readonly additionalProperties?: ISchema | boolean;
  readonly default?: unknown;
}

const STRUCTS = schemas as unknown as Record<string, Record<string, ISchema>>;
