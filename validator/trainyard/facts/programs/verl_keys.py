"""Keys of verl's configuration that stand directly in the sections `trainer`, `data` and `algorithm`.

Source: volcengine/verl v0.2, v0.3.0.post1, v0.4.0, v0.4.1, v0.5.0, v0.6.0, v0.7.0 and b178a3cd, verl/trainer/config/
ppo_trainer.yaml and ppo_megatron_trainer.yaml, from 0.5 on their generated files. Keys of all releases are among them.
"""

from __future__ import annotations

SECTIONS: dict[str, frozenset[str]] = {
    "trainer": frozenset((
        "balance_batch", "controller_nsight_options", "critic_warmup", "default_hdfs_dir", "default_local_dir",
        "del_local_ckpt_after_load", "device", "esi_redundant_time", "experiment_name", "log_val_generations",
        "logger", "max_actor_ckpt_to_keep", "max_critic_ckpt_to_keep", "n_gpus_per_node", "nnodes",
        "npu_profile", "profile_steps", "project_name", "ray_wait_register_center_timeout",
        "remove_previous_ckpt_in_save", "resume_from_path", "resume_mode", "rollout_data_dir", "save_freq",
        "test_freq", "total_epochs", "total_training_steps", "use_legacy_worker_impl", "val_before_train",
        "val_generations_to_log_to_wandb", "val_only", "validation_data_dir", "worker_nsight_options",
    )),
    "data": frozenset((
        "apply_chat_template_kwargs", "custom_cls", "datagen", "dataloader_num_workers",
        "filter_overlong_prompts", "filter_overlong_prompts_workers", "image_key", "image_patch_size",
        "max_prompt_length", "max_response_length", "prompt_key", "return_full_prompt",
        "return_multi_modal_inputs", "return_raw_chat", "return_raw_input_ids", "reward_fn_key", "sampler",
        "seed", "shuffle", "tokenizer", "tool_config_path", "train_batch_size", "train_files",
        "train_max_samples", "truncation", "trust_remote_code", "use_shm", "val_batch_size", "val_files",
        "val_max_samples", "validation_shuffle", "video_key",
    )),
    "algorithm": frozenset((
        "adv_estimator", "gamma", "kl_ctrl", "kl_penalty", "lam", "norm_adv_by_std_in_grpo", "pf_ppo",
        "rollout_correction", "rollout_is", "rollout_is_level", "rollout_is_mode", "rollout_is_threshold",
        "rollout_is_threshold_lower", "rollout_is_veto_threshold", "use_kl_in_reward", "use_pf_ppo",
    )),
}  # fmt: skip
# Sections and keys at the top.
TOP = frozenset((
    "actor_rollout_ref", "algorithm", "critic", "custom_reward_function", "data", "defaults", "global_profiler",
    "hydra", "ray_init", "ray_kwargs", "reward_manager", "reward_model", "trainer", "transfer_queue",
))  # fmt: skip
