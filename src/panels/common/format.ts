export {
  formatMicroseconds,
  formatPlace,
  formatSeconds
} from '../../words/format';
