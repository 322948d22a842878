export { showDoctor } from './dialog';
export { CheckupBody } from './body';
