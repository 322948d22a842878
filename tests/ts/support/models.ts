import { SubjectModel } from '../../../src/model/subject';
import { FakeConnection } from './fakes';

/**
 * Gives each test a model with a connection that has not been opened, and jest's timers.
 *
 * @param set - Called before each test.
 */
export function eachModel(
  set: (connection: FakeConnection, model: SubjectModel) => void
): void {
  let model: SubjectModel;

  beforeEach(() => {
    jest.useFakeTimers();
    const connection = new FakeConnection();
    model = new SubjectModel();
    model.connection = connection;
    set(connection, model);
  });

  afterEach(() => {
    model.dispose();
    jest.useRealTimers();
  });
}

/**
 * Gives each test a model with the report of one inspection, as `eachModel` does.
 */
export function eachInspectedModel(set: Parameters<typeof eachModel>[0]): void {
  let connection: FakeConnection;

  eachModel((fake, model) => {
    connection = fake;
    set(fake, model);
  });

  beforeEach(async () => {
    connection.hello();
    await connection.inspect();
  });
}
