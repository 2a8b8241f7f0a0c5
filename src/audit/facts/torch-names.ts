/** What torch's public names do, as far as the rules need to know. */
const set = (names: string): ReadonlySet<string> => new Set(names.trim().split(/\s+/));

/** `torch.X(...)` that makes a tensor out of nothing. */
export const FACTORIES = set(
  "zeros ones empty full rand randn randint randperm arange linspace logspace eye tensor as_tensor from_numpy normal bernoulli scalar_tensor hann_window hamming_window tril_indices triu_indices frombuffer empty_strided",
);
/** The same, on the device and with the dtype of their argument. */
export const LIKE_FACTORIES = set(
  "zeros_like ones_like empty_like full_like rand_like randn_like randint_like",
);
/** Factories whose values come from Python data on the host. */
export const HOST_FACTORIES = set("tensor as_tensor from_numpy scalar_tensor frombuffer");
/** Methods of distributions through which gradients flow. */
export const OF_DISTRIBUTIONS = set("log_prob entropy rsample");
/** What wrapped a tensor before tensors had gradients of their own; it hands back what it is given. */
export const VARIABLE = /^torch\.autograd\.(?:variable\.)?Variable$/;
/** Factories that consume random numbers, whose stream differs between devices. */
export const RANDOM_FACTORIES = set(
  "rand randn randint randperm normal bernoulli rand_like randn_like randint_like",
);

/** `torch.X(...)` that computes a tensor from tensors. */
export const FUNCTIONS = set(`
  abs add addmm addcmul addcdiv amax amin all any angle argmax argmin argsort atan2 baddbmm bincount bmm broadcast_to bucketize cat cdist ceil chunk clamp
  clip complex concat concatenate conj cos cosh cosine_similarity cross cummax cumprod cumsum diag diagonal diff div dot einsum eq erf exp expm1 flatten flip floor
  floor_divide fmod frac gather ge gt hstack imag index_select inverse isclose isfinite isinf isnan kron kthvalue le lerp log log10 log1p log2 logaddexp
  logical_and logical_not logical_or logical_xor logsumexp lt masked_select matmul max maximum mean median meshgrid min minimum mm mode moveaxis movedim mul
  multinomial multiply mv nan_to_num nansum narrow ne neg nonzero norm outer permute polar pow prod quantile real reciprocal relu remainder repeat_interleave reshape roll
  round rsqrt scatter scatter_add searchsorted sigmoid sign sin sinh softmax sort split sqrt square squeeze stack std std_mean sub sum swapaxes t take take_along_dim
  tan tanh tensordot tile topk trace transpose tril triu true_divide trunc unbind unique unique_consecutive unsqueeze var var_mean vstack where xlogy
  log_softmax clone dropout layer_norm view_as_real view_as_complex
  absolute acos asin atan avg_pool1d batch_norm bilinear celu column_stack conv1d conv2d conv3d conv_transpose1d conv_transpose2d corrcoef cov digamma dstack erfinv
  fliplr flipud group_norm hypot index_add instance_norm istft lgamma logcumsumexp max_pool1d max_pool2d max_pool3d nanmean pairwise_distance pdist pixel_shuffle
  prelu rms_norm rot90 scatter_reduce selu sgn sinc stft trapezoid trapz unflatten
  addbmm addmv argwhere atleast_1d atleast_2d atleast_3d bitwise_and bitwise_not bitwise_or bitwise_xor block_diag cartesian_prod clamp_max clamp_min copysign
  count_nonzero cummin diag_embed divide exp2 float_power fmax fmin greater greater_equal heaviside index_copy index_fill index_put inner isin isneginf isposinf
  less less_equal logaddexp2 logit masked_fill masked_scatter nanmedian nanquantile negative not_equal ravel select signbit subtract swapdims vdot`);
/** Of these, the ones that return several tensors. */
export const TUPLE_RESULTS = set(
  "chunk split unbind meshgrid std_mean var_mean topk sort max min median mode kthvalue cummax cummin unique",
);

/** Methods of a tensor that return a tensor with the same history. */
export const METHODS = set(`
  abs add add_ addmm all amax amin any argmax argmin argsort as_strided baddbmm bernoulli bfloat16 bmm bool broadcast_to byte ceil char chunk clamp clamp_ clamp_max clamp_min
  clip clone contiguous copy_ cos cumprod cumsum diag diagonal diff div div_ dot double eq erf exp expand expand_as fill_ fill_diagonal_ flatten flip float floor floor_divide
  fmod gather ge gt half index_add index_add_ index_copy index_fill index_select int isfinite isinf isnan kthvalue le lerp log log1p log2 log_softmax logical_and logical_not logical_or
  logsumexp long lt masked_fill masked_fill_ masked_scatter masked_select matmul max maximum mean median min minimum mm mul mul_ multinomial mv nan_to_num narrow ne neg
  nonzero norm normal_ permute pin_memory pow prod quantile ravel real reciprocal relu relu_ remainder repeat repeat_interleave requires_grad_ reshape roll round rsqrt scatter scatter_ scatter_add scatter_add_
  select short sigmoid sign sin softmax sort split sqrt square squeeze squeeze_ std sub sub_ sum swapaxes swapdims t take tan tanh tensor_split tile topk
  transpose tril triu trunc type type_as unbind unfold uniform_ unique unsqueeze unsqueeze_ var view view_as where zero_ mul_ lerp_ index_put_ index_put
  abs_ addcdiv_ addcmul addcmul_ bitwise_and bitwise_not bitwise_or cosh cummax erfinv exp_ index_fill_ inverse log_ masked_scatter_ movedim nansum nanmean neg_ outer
  pow_ round_ rot90 scatter_reduce sigmoid_ sgn sinh softplus sqrt_ take_along_dim tril_ triu_ unflatten
  argwhere bitwise_xor count_nonzero cummin divide expm1 greater greater_equal isclose less less_equal log10 logical_xor logit multiply not_equal subtract true_divide`);
/** Methods only tensors have: calling one says that the receiver is a tensor. `item`, `sum`, `view`… are shared with NumPy and others. */
export const TENSOR_ONLY_METHODS = set(
  "backward detach detach_ requires_grad_ unsqueeze unsqueeze_ masked_fill masked_fill_ scatter_ scatter_add_ expand_as view_as log_softmax index_select type_as new_zeros new_ones new_tensor new_full",
);
/** Attributes that are tensors when the value is. */
export const TENSOR_ATTRIBUTES = set("T mT H mH real imag");
/** What an object says of its size: `graph.num_nodes()`, `batch.batch_size`. */
export const SIZES = /^(?:num|n|number)_|_(?:size|count|len|length)s?$/;
/** Attributes that never are. */
export const PLAIN_ATTRIBUTES = set(
  "shape dtype device requires_grad is_cuda ndim is_leaf itemsize layout param_groups",
);
/** Results that cannot carry a graph: integers and booleans. */
export const GRAPHLESS = set(
  "argmax argmin argsort eq ne lt le gt ge isnan isinf isfinite isclose any all nonzero logical_and logical_or logical_not logical_xor bitwise_and bitwise_not bitwise_or bitwise_xor greater greater_equal less less_equal not_equal argwhere count_nonzero isin isneginf isposinf signbit multinomial bincount searchsorted bucketize long int bool byte short char round sign floor ceil randint randperm unique",
);

/** Functions of other libraries that make one tensor of another, with its history. */
const TRANSFORMS =
  /^(?:einops\.(?:\w+\.)?(?:rearrange|repeat|reduce|einsum)|torch(?:audio|vision\.transforms(?:\.v2)?)\.functional\.(?!get_|to_pil|edit_)[a-z]\w*|torch_geometric\.(?:nn|utils)\.(?:\w+\.)*(?:global_\w+_pool|scatter|softmax)|torch_scatter\.(?:\w+\.)*scatter\w*)$/;

export function transformsTensors(dotted: string): boolean {
  return (dotted.startsWith("einops.") || dotted.startsWith("torch")) && TRANSFORMS.test(dotted);
}

/** Classes whose instances do so: modules without weights. */
export function makesTransform(dotted: string): boolean {
  return (
    dotted.startsWith("torchaudio.transforms.") ||
    dotted.startsWith("torchvision.transforms.") ||
    dotted.startsWith("einops.layers.torch.")
  );
}

export const GRAD_OFF_CONTEXTS = set(
  "torch.no_grad torch.inference_mode torch.autograd.no_grad torch.autograd.inference_mode torch.autograd.grad_mode.no_grad torch.autograd.grad_mode.inference_mode",
);
export const GRAD_ON_CONTEXTS = set("torch.enable_grad torch.autograd.enable_grad");

/** "softmax" of "torch.nn.functional.softmax". */
export function last(dotted: string): string {
  return dotted.slice(dotted.lastIndexOf(".") + 1);
}

/** As nearly all Python code writes the names of classes. Asked of every name of a tree: no regular expression. */
export function isCapital(word: string): boolean {
  let first = word.charCodeAt(0);
  for (let at = 1; first === 95; at++) first = word.charCodeAt(at);
  return first >= 65 && first <= 90;
}
